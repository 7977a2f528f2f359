"""A campaign with invented runs in a process of its own, so that tests may kill it: OUT WHERE.

With ROAMCAST_TEST_OFTEN it commits after so many seconds and joins any two batches; while it does, the file
that ROAMCAST_TEST_JOINING names is there. Only with ROAMCAST_TEST_AHEAD do runs begin before Spark is there.
"""

import os
import sys
from functools import partial
from pathlib import Path

import roamcast
from roamcast.campaign.campaign import Campaign
from roamcast.errors import UserError
from roamcast.facts.schema import TABLES as FACTS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner, ProgressListener
from roamcast.pipeline.committing import commit
from roamcast.pipeline.running import early_runs
from roamcast.pipeline.spark.cluster import SparkOptions

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
COUNT = "workload.subscribe.walkers.count"
CAMPAIGN = Campaign.model_validate(
    {
        "title": "to be killed",
        "scenario": SHOPPING,
        "seeds": 6,
        "protocols": {"flooding": {}, "slow": {"router": "flooding", "parameters": {"jitter": "20 ms"}}},
        "sweeps": {"people": {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}}},
        "claims": {
            "order": {
                "kind": "ordering",
                "says": "slow sends more",
                "sweep": "people",
                "metric": "messages",
                "protocols": ["flooding", "slow"],
            }
        },
    }
)
RUNNER = "synthetic_runner:run"
TABLES = ("plan", "points", "metrics", "summary", "differences", "verdicts")


def tables(folder):
    """The bytes of every table that must not depend on how the campaign came about."""
    return {name: CampaignFolder(folder).table_file(name).read() for name in TABLES}


def facts(folder):
    """Every row of every table of facts, run by run; how runs lie in files depends on when they ended."""
    lake = roamcast.lake(folder)
    found = {}
    for name in FACTS:
        rows = lake.dataset(name).to_table().to_pylist()
        rows.sort(key=lambda row: row["run"])  # stable: the rows of a run stay in order
        found[name] = repr(rows)
    return found


def commit_often(seconds, joining):
    """Commit and compact far more often than campaigns do, and leave word while batches are joined."""
    rewrite = commit.Committer.rewrite

    def marked(*arguments):
        joining.touch()
        result = rewrite(*arguments)
        joining.unlink()
        return result

    commit._LONGEST = seconds
    commit.choose = partial(commit.choose, few=2)
    commit.Committer.rewrite = marked


if __name__ == "__main__":
    if often := os.environ.get("ROAMCAST_TEST_OFTEN"):
        commit_often(float(often), Path(os.environ["ROAMCAST_TEST_JOINING"]))
    if "ROAMCAST_TEST_AHEAD" not in os.environ:
        early_runs.MOST_SIZE = 0.0
    listener = ProgressListener(say=lambda line: print(line, flush=True))
    where = SparkOptions(remote=sys.argv[2]) if sys.argv[2].startswith("sc:") else SparkOptions(sys.argv[2])
    try:
        CampaignRunner(CAMPAIGN, CampaignFolder(sys.argv[1]), listener, runner=RUNNER).run(where)
    except UserError as error:
        sys.exit(str(error))
    print("finished", flush=True)
