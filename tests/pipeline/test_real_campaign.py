"""The pipeline over the real simulator agrees with the plain measure of one run."""

import shlex

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.cli.app import invoke
from roamcast.facts.schema import TABLES as FACTS
from roamcast.facts.tables import Facts
from roamcast.lake.reading import read_facts
from roamcast.metrics.community_snapshot import community_snapshot
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.report.drawings.communities import community_snapshots
from roamcast.report.markdown import write_markdown
from roamcast.report.result import CampaignResult
from validation.clone_beside import put_beside

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_real_runs_measured_by_spark_equal_the_same_runs_measured_alone(spark, tmp_path, monkeypatch):
    from test_conduct import SHOPPING

    asked = {
        "title": "real",
        "scenario": SHOPPING,
        "seeds": [3],
        "protocols": {"flooding": {}, "cbr": {}},
        "sweeps": {"one": {"protocols": ["flooding", "cbr"], "set": {"duration": "60 s", "warmup": "20 s"}}},
    }
    store = CampaignFolder(tmp_path)
    conductor = CampaignRunner(Campaign.model_validate(asked), store)
    with conductor.prepare():
        conductor.work(spark)
    rows = store.read_table("metrics").to_pylist()
    assert len(rows) == 2
    monkeypatch.chdir(tmp_path)  # the command works wherever it is pasted
    for planned in store.read_table("plan").to_pylist():
        verb, *words = shlex.split(planned["command"])
        assert verb == "roamcast"
        assert invoke([*words, "--facts", "again", "--overwrite", "--json"]) == 0
        kept = read_facts(str(store.folder / f"run={planned['run']}"))
        again, before = Facts.read(tmp_path / "again").digests(), kept.digests()
        assert {name: again[name] for name in FACTS} == {name: before[name] for name in FACTS}
    for row in rows:
        alone = evaluate(metric_input(read_facts(str(store.folder / f"run={row['run']}"))))
        assert {name: row[name] for name in METRICS} == alone
        assert row["delivered"] > 100
        assert row["energy"] > 0 and 0 < row["neighbours"] < 51


def test_a_figure_about_orphans_has_maps_of_the_runs_of_its_first_point(spark, tmp_path):
    from test_conduct import SHOPPING

    speed = "nodes.drivers.speed.max"
    asked = {
        "title": "communities",
        "scenario": SHOPPING.parent / "city.toml",
        "seeds": [3, 4],
        "protocols": {"clone": {"title": "CLONE"}, "grid": {"router": "grid-cbr"}, "cbr": {}},
        "sweeps": {
            "speed": {
                "protocols": ["clone", "grid", "cbr"],
                "set": {
                    "duration": "30 s",
                    "warmup": "10 s",
                    "quiet": "0 s",
                    "nodes.walkers.count": 20,
                    "nodes.drivers.count": 20,
                },
                "grid": {speed: ["2 m/s", "15 m/s"]},
            }
        },
        "figures": {"five": {"title": "5", "sweep": "speed", "x": speed, "y": ["communities", "orphans"]}},
    }
    store = CampaignFolder(tmp_path / "kept")
    conductor = CampaignRunner(Campaign.model_validate(asked), store)
    with conductor.prepare():
        conductor.work(spark)
    result = CampaignResult(store)
    shown = community_snapshots(result, "five")
    assert [each.title for each in shown] == ["CLONE", "grid"], "traditional CBR has no communities"
    first = [
        row for row in store.read_table("points").to_pylist() if row["seed"] == 3 and "2 m/s" in row["point"]
    ]
    for gathering, label in zip(shown, ("clone", "grid"), strict=True):
        (run,) = [row["run"] for row in first if row["protocol"] == label]
        assert gathering.moment == 20.0
        assert (
            gathering.belongs == community_snapshot(read_facts(str(store.folder / f"run={run}")), "").belongs
        )
    beside = put_beside(str(store.folder))
    assert beside.row_count == 6
    assert list(beside.columns[2].cells).count("") == 2, "k is of those with communities"
    write_markdown(result, tmp_path / "page.md")
    assert any("communities" in file.name for file in tmp_path.rglob("*.svg"))
