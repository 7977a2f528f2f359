"""A campaign with invented runs in a process of its own, so that tests may kill it: OUT WHERE."""

import sys
from pathlib import Path

from roamcast.errors import UserError
from roamcast.pipeline.campaign import Campaign
from roamcast.pipeline.cluster import Cluster
from roamcast.pipeline.conduct import Conductor, Listener
from roamcast.pipeline.store import Store

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
    return {name: Store(folder).table_file(name).read_bytes() for name in TABLES}


def facts(folder):
    """The bytes of every fact."""
    runs = Store(folder).runs
    return {str(file.relative_to(runs)): file.read_bytes() for file in sorted(runs.rglob("*.parquet"))}


if __name__ == "__main__":
    listener = Listener(say=lambda line: print(line, flush=True))
    where = Cluster(remote=sys.argv[2]) if sys.argv[2].startswith("sc:") else Cluster(sys.argv[2])
    try:
        Conductor(CAMPAIGN, Store(sys.argv[1]), listener, runner=RUNNER).conduct(where)
    except UserError as error:
        sys.exit(str(error))
    print("finished", flush=True)
