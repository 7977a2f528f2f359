import json
import shutil
from pathlib import Path

import pytest
from in_process import roamcast

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.lake.staging import digest
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.running.runner import simulate_run

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Two minutes of the shopping district under CBR."""
    folder = tmp_path_factory.mktemp("facts")
    short = ("--set", "duration='120 s'", "--set", "warmup='60 s'")
    run = roamcast("run", SHOPPING, "--protocol", "cbr", *short, "--facts", folder, "--json")
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A campaign of two protocols and two seeds; of the last run no facts are there."""
    folder = tmp_path_factory.mktemp("campaign")
    market = folder / "market.toml"
    market.write_text(
        """
        name = "market"
        duration = "20 s"
        area = { width = "900 m", height = "600 m" }
        [nodes.all]
        count = 12
        mobility = "waypoint"
        speed = { min = "1 m/s", max = "5 m/s" }
        [workload.publish.all]
        count = 2
        every = "1 s"
        content = { type = "news" }
        [workload.subscribe.all]
        count = 6
        interest = ["/news"]
        [workload.request.all]
        count = 3
        every = "5 s"
        timeout = "2 s"
        interest = ["/news"]
        """
    )
    asked = Campaign.model_validate(
        {
            "title": "two in a market",
            "scenario": market,
            "seeds": 2,
            "protocols": {"flooding": {}, "trees": {"router": "cbr"}},
            "sweeps": {"all": {"protocols": ["flooding", "trees"], "points": [{"duration": "20 s"}]}},
        }
    )
    store = CampaignFolder(folder / "out")
    store.create()
    store.write_campaign(asked)
    plan = make_plan(asked)
    store.write_plan(plan)
    for run in plan.runs[:-1]:
        work = folder / "work"
        simulate_run(run, work)
        files = {file.name: {"size": file.stat().st_size, "digest": digest(file)} for file in work.iterdir()}
        store.staging.stage(work, {"run": run.id, "status": "done", "error": "", "files": files, "rows": 1})
    staged = store.staging.survey()
    for run in sorted(staged):  # a batch each
        Committer(None, store).commit({run: staged[run]})
    return store.folder.local


def test_why_counts_all_causes_and_tells_the_story_that_it_offers(facts):
    causes = roamcast("why", facts)
    assert causes.returncode == 0 and "expected deliveries were lost" in causes.stdout, causes.stderr
    words = causes.stdout.split()
    event, node = words[words.index("--event") + 1], words[words.index("--node") + 1]
    story = roamcast("why", facts, "--event", event, "--node", node)
    assert "published" in story.stdout and "so it was lost" in story.stdout, story.stderr


def test_why_tells_programs_the_same(facts):
    record = json.loads(roamcast("why", facts, "--json").stdout)
    assert (record["protocol"], record["scenario"], record["runs"]) == ("cbr", "shopping", 1)
    events = record["events"]
    assert events["missed"] == sum(each["times"] for each in events["causes"]) > 0
    assert 0 < events["explained"] <= 1
    first = events["causes"][0]
    asked = ("why", facts, "--event", first["about"], "--node", first["node"])
    story = json.loads(roamcast(*asked, "--json").stdout)
    assert (story["cause"], story["outcome"]) == (first["cause"], "lost")
    assert first["says"] in story["story"][-1]
    assert story["story"] == roamcast(*asked).stdout.splitlines()


def test_why_counts_the_causes_in_a_whole_campaign_by_protocol(campaign):
    record = json.loads(roamcast("why", campaign, "--json").stdout)
    assert (record["runs"], record["not_done"], record["unreadable"]) == (3, 1, {})
    by_label = {each["protocol"]: each for each in record["protocols"]}
    assert {label: each["runs"] for label, each in by_label.items()} == {"flooding": 2, "trees": 1}
    trees = by_label["trees"]
    assert trees["events"]["missed"] > 0 and trees["requests"]["expected"] > 0
    case = trees["events"]["causes"][0]
    alone = json.loads(roamcast("why", case["run"], "--json").stdout)
    assert alone["events"]["expected"] == trees["events"]["expected"]
    assert [each["times"] for each in alone["events"]["causes"]] == [
        each["times"] for each in trees["events"]["causes"]
    ]
    people = roamcast("why", campaign)
    assert "trees, 1 run:" in people.stdout and "flooding, 2 runs:" in people.stdout
    assert "1 of 4 planned runs are not done" in people.stdout


def test_why_counts_the_causes_at_each_point_of_a_campaign(campaign):
    record = json.loads(roamcast("why", campaign, "--points", "--json").stdout)
    assert [(each["protocol"], each["runs"]) for each in record["protocols"]] == [
        ("flooding, all at duration = 20 s", 2),
        ("trees, all at duration = 20 s", 1),
    ]


def test_why_says_which_runs_of_a_campaign_cannot_be_told(campaign, tmp_path):
    hurt = tmp_path / "hurt"
    shutil.copytree(campaign, hurt)
    file = min(hurt.glob("facts/legs/*.parquet"))
    [run] = CampaignFolder(hurt).snapshot().batches[file.stem].runs
    file.write_bytes(b"x" * file.stat().st_size)
    record = json.loads(roamcast("why", hurt, "--json").stdout)
    assert record["runs"] == 3 and list(record["unreadable"]) == [f"{hurt}/run={run}"]
    assert sum(each["runs"] for each in record["protocols"]) == 2


def test_why_tells_the_story_of_a_request(campaign):
    record = json.loads(roamcast("why", campaign, "--json").stdout)
    [case] = [each["requests"]["causes"] for each in record["protocols"] if each["protocol"] == "trees"]
    story = roamcast("why", case[0]["run"], "--request", case[0]["about"])
    assert f"node {case[0]['node']} requested /news" in story.stdout, story.stderr
    assert f"so it was not satisfied (expired): {case[0]['says']}" in story.stdout


def test_why_says_what_is_wrong_in_a_line(tmp_path, facts, campaign):
    for arguments, entry in (
        ([tmp_path / "nothing"], "no such folder; expected the folder of a run's facts"),
        ([tmp_path], "no run finished writing its facts here"),
        ([tmp_path, "--node", 3], "expected both"),
        ([facts, "--event", "0/1", "--node", 3, "--request", "1/1"], "expected only one of them"),
        ([facts, "--event", "x", "--node", 3], "is not a valid event id"),
        ([facts, "--event", "0/1", "--node", 99], "there is no node 99"),
        ([facts, "--request", "x"], "is not a valid request id"),
        ([facts, "--request", "1/1"], "the run has no requests"),
        ([campaign, "--request", "1/1"], "is a campaign"),
        ([facts, "--points"], "is not a campaign folder"),
    ):
        ended = roamcast("why", *arguments)
        assert ended.returncode == 2 and entry in ended.stderr and "Traceback" not in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
