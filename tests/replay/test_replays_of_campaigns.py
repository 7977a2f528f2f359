"""Replays of a comparison: which seed, which files, and what the report links."""

import json
import re
from html import unescape

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.cli.app import invoke
from roamcast.cli.shared.replaying import find_outlier, find_typical_seed, write_replays
from roamcast.errors import UserError
from roamcast.lake.reading import open_facts, read_facts
from roamcast.lake.staging import digest
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.running.runner import simulate_run
from roamcast.replay.packing import Packer
from roamcast.replay.parts import air
from roamcast.replay.recording import Recording
from roamcast.report.page.replays import LossCause, RunReplay, make_next_steps, make_seeds, read_replays
from roamcast.report.result import CampaignResult

MARKET = """
name = "market"
duration = "20 s"
area = { width = "1500 m", height = "900 m" }
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
"""
LABELS = ["flooding", "trees"]
RATES = {("flooding", 1): 0.5, ("flooding", 2): 0.9, ("trees", 1): 0.4, ("trees", 2): 0.8}


@pytest.fixture
def result(tmp_path):
    """A comparison of two protocols on two seeds; its metrics are made by hand."""
    market = tmp_path / "market.toml"
    market.write_text(MARKET)
    asked = Campaign.model_validate(
        {
            "title": "two in a market",
            "scenario": market,
            "seeds": 2,
            "protocols": {"flooding": {}, "trees": {"router": "cbr"}},
            "sweeps": {"all": {"protocols": LABELS}},
        }
    )
    store = CampaignFolder(tmp_path / "out")
    store.create()
    store.write_campaign(asked)
    plan = make_plan(asked)
    store.write_plan(plan)
    for run in plan.runs:
        work = tmp_path / "work"
        simulate_run(run, work)
        files = {file.name: {"size": file.stat().st_size, "digest": digest(file)} for file in work.iterdir()}
        store.staging.stage(work, {"run": run.id, "status": "done", "error": "", "files": files, "rows": 1})
    Committer(None, store).commit(store.staging.survey())
    found = CampaignResult(store)
    points = store.read_table("points").to_pylist()
    found.tables["points"] = points
    found.tables["metrics"] = [
        dict.fromkeys(METRICS, 1.0)
        | {"run": row["run"], "delivery_rate": RATES[row["protocol"], row["seed"]], "delay_p50": 0.25}
        for row in points
    ]
    found.__dict__["values"] = {("all", "{}", "flooding", "delivery_rate"): {}}
    return found


def test_replays_are_linked_from_the_seeds_and_the_causes_of_the_report(result):
    write_replays(result, LABELS, whole=True)
    replays = read_replays(result)
    assert [(each.seed, each.protocol, each.file, each.pane) for each in replays] == [
        (1, "flooding", "seed-1.html", 0),
        (1, "trees", "seed-1.html", 1),
        (2, "flooding", "seed-2.html", 0),
        (2, "trees", "seed-2.html", 1),
    ]
    page = make_seeds(result)
    assert "50.0 %, 0.25 s" in page and "80.0 %, 0.25 s" in page
    links = [unescape(link) for link in re.findall(r'href="([^"]+)"', page)]
    assert "replays/seed-2.html#run=1&only" in links
    assert any(
        re.fullmatch(r"replays/seed-1\.html#run=1&only&event=\d+/\d+&node=\d+", link) for link in links
    )
    folder = result.store.folder.local
    assert all((folder / link.partition("#")[0]).is_file() for link in links)
    assert "<h3>trees, seed 1</h3>" in page and "lost (" in page


def test_the_top_of_the_report_leads_to_causes_and_replay(result):
    assert make_next_steps(result) == ""
    write_replays(result, LABELS, whole=True)
    causes, replay = re.findall(r"href=[\"']([^\"']+)", make_next_steps(result))
    assert f"id='{causes.removeprefix('#')}'" in make_seeds(result)
    assert (result.store.folder.local / replay).is_file()


def test_causes_are_counted_as_why_does(result, capsys):
    write_replays(result, LABELS, whole=False)
    for replay in read_replays(result):
        assert invoke(["why", f"{result.store.folder}/run={replay.run}", "--json"]) == 0
        record = json.loads(capsys.readouterr().out)["events"]
        assert (replay.expected, sum(each.times for each in replay.causes)) == (
            record["expected"],
            record["missed"],
        )
        counts = {each["says"]: each["times"] for each in record["causes"]}
        assert {each.says: each.times for each in replay.causes} == counts
        assert replay.unreachable == counts.get("no path to the subscriber existed until the end", 0)


def test_the_typical_seed_is_the_one_nearest_to_the_medians(result):
    rates = {label: {1: 0.1, 2: 0.5, 3: 0.9} for label in LABELS}
    result.by_seed = lambda sweep, point, protocol, metric: rates[protocol]
    assert find_typical_seed(result, LABELS, [1, 2, 3]) == 2


def test_the_outlier_is_the_worst_seed_of_the_best_protocol_if_it_lies_far_below_the_mean(result):
    rates = {"flooding": {1: 0.1, 2: 0.2, 3: 0.9}, "trees": {1: 0.99, 2: 0.98, 3: 0.5}}
    result.by_seed = lambda sweep, point, protocol, metric: rates[protocol]
    assert find_outlier(result, LABELS) == [3]
    rates["trees"][3] = 0.9
    assert find_outlier(result, LABELS) == []
    rates["trees"] = rates["flooding"] = {}
    assert find_outlier(result, LABELS) == []


def test_an_index_that_is_damaged_foreign_or_hostile_gives_no_links(result):
    write_replays(result, LABELS, whole=False)
    index = result.store.folder.local / "replays" / "index.json"
    good = json.loads(index.read_text())
    assert read_replays(result)
    for change in ({"file": "../x.html"}, {"file": 'seed-1.html"><b>'}, {"run": "another"}, {"pane": "0"}):
        index.write_text(json.dumps([good[0] | change]))
        assert read_replays(result) == []
    hostile = good[0] | {"causes": [{"says": "x", "times": 1, "event": '"><script>', "node": 1}]}
    index.write_text(json.dumps([hostile]))
    assert read_replays(result) == []
    index.write_text("{")
    assert read_replays(result) == []


def test_texts_of_causes_are_escaped(result):
    cause = LossCause(says="<b>", times=1, event="0/1", node=2)
    replay = RunReplay(
        protocol="flooding", run="r", seed=1, file="seed-1.html", pane=0, expected=2, causes=[cause]
    )
    from roamcast.report.page.replays import _causes

    replay.unreachable = 1
    assert "1 had no path; 100.0 % of the others were delivered" in _causes(LABELS, [replay])
    assert "<b>" not in _causes(LABELS, [replay]) and "&lt;b&gt;" in _causes(LABELS, [replay])


def test_the_command_finds_runs_of_a_campaign_by_protocol_and_seed(result, tmp_path, capsys):
    file = tmp_path / "two.html"
    folder = str(result.store.folder)
    words = ["replay", folder, "--protocol", "trees,flooding", "--seed", "2", "--out", str(file), "--json"]
    assert invoke(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert [(run["protocol"], run["seed"]) for run in record["runs"]] == [("cbr", 2), ("flooding", 2)]
    assert "market, trees and flooding, seed 2" in file.read_text()
    assert invoke(["replay", folder, "--protocol", "other"]) == 2
    assert "it has flooding, trees" in capsys.readouterr().err
    assert invoke(["replay", folder, "--seed", "9"]) == 2
    assert "no run has seed 9" in capsys.readouterr().err


def test_a_run_of_the_lake_is_served_in_parts_as_it_is_read_whole(result, monkeypatch):
    monkeypatch.setattr(air, "PIECE", 5)
    for row in result.tables["points"]:
        place = f"{result.store.folder}/run={row['run']}"
        facts, tables = open_facts(place)
        parts, whole = Recording(facts, source=tables), Recording(read_facts(place))
        assert parts.pieces == -(-parts.frames // 5) > 1
        packers = Packer(), Packer()
        headers = parts.pack(packers[0]), whole.pack(packers[1])
        assert packers[0].finish(headers[0]) == packers[1].finish(headers[1])
        assert parts.find_passage(2) == whole.find_passage(2)


def test_a_run_that_the_lake_lacks_is_a_clear_error(result):
    with pytest.raises(UserError, match="nothing"):
        open_facts(f"{result.store.folder}/run=nothing")
