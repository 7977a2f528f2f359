import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from invented_facts import invent

from roamcast.campaign.campaign import Campaign
from roamcast.errors import UserError
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner, ProgressListener

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
COUNT = "workload.subscribe.walkers.count"
RUNNER = "synthetic_runner:run"


def campaign(**changes):
    asked = {
        "title": "test",
        "scenario": SHOPPING,
        "seeds": 3,
        "protocols": {"flooding": {}, "slow": {"router": "flooding", "parameters": {"jitter": "20 ms"}}},
        "sweeps": {"people": {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}}},
        "claims": {
            "most": {
                "kind": "band",
                "says": "half arrive",
                "sweep": "people",
                "metric": "delivery_rate",
                "protocol": "slow",
                "low": 0.5,
            }
        },
    }
    return Campaign.model_validate(asked | changes)


def names(*given):
    return {"people": {"protocols": ["flooding"], "points": [{"name": name} for name in given]}}


def conduct(asked, store, spark, listener=None):
    conductor = CampaignRunner(asked, store, listener, runner=RUNNER)
    with conductor.prepare():
        conductor.work(spark)
    return conductor.account


def tables(store):
    wanted = ("plan", "points", "metrics", "summary", "differences", "verdicts")
    return {name: store.read_table(name).to_pylist() for name in wanted}


def test_a_campaign_goes_from_plan_to_verdict_and_repeats_nothing(spark, tmp_path, monkeypatch):
    store = CampaignFolder(tmp_path / "out")
    first = conduct(campaign(), store, spark)
    assert first.simulated == 12
    assert {row["status"] for row in store.read_table("runs").to_pylist()} == {"done"}
    result = tables(store)
    assert len(result["metrics"]) == 12
    assert {row["count"] for row in result["summary"] if row["metric"] == "messages"} == {3}
    facts = tmp_path / "out" / "facts"
    before = {file: file.stat().st_mtime_ns for file in facts.rglob("*") if file.is_file()}
    summary, differences = (
        tmp_path / "out" / "tables" / f"{name}.parquet" for name in ("summary", "differences")
    )
    summarised = summary.stat().st_mtime_ns
    differences.unlink()
    assert conduct(campaign(), store, spark).simulated == 0
    assert summary.stat().st_mtime_ns == summarised, "only what is stale is made anew"
    assert {file: file.stat().st_mtime_ns for file in facts.rglob("*") if file.is_file()} == before
    assert not any((tmp_path / "out" / "staged").iterdir())
    assert tables(store) == result
    said = []
    CampaignRunner(campaign(), store, ProgressListener(say=said.append)).run(
        "no such master"
    )  # nobody asks for it
    assert said == ["all 12 runs are done and measured: nothing to do"]
    assert conduct(campaign(seeds=4), store, spark).simulated == 4


def test_runs_that_raise_hang_die_or_hog_are_rows_with_their_error_and_the_rest_go_on(spark, tmp_path):
    store = CampaignFolder(tmp_path)
    asked = campaign(
        seeds=1,
        sweeps=names("raise", "hang", "die", "hog", "fine", "good"),
        claims={},
        limits={"time": "10 s", "memory": "300 MB"},
    )
    conduct(asked, store, spark)
    points = {row["run"]: json.loads(row["point"])["name"] for row in store.read_table("points").to_pylist()}
    rows = {points[row["run"]]: row for row in store.read_table("runs").to_pylist()}
    assert rows["raise"]["error"].startswith("RuntimeError: the radio caught fire")
    kept = (store.staging.run_folder(rows["raise"]["run"]) / "traceback.txt").read().decode()
    assert kept.startswith("Traceback") and "synthetic_runner.py" in kept and "the radio caught fire" in kept
    assert not (store.staging.run_folder(rows["good"]["run"]) / "traceback.txt").exists()
    assert rows["hang"]["error"] == "took longer than its limit of 10 s"
    assert rows["die"]["error"] == "its process was killed by SIGABRT"
    assert rows["hog"]["error"] == "used more memory than its limit"
    assert [rows[name]["status"] for name in ("fine", "good", "raise")] == ["done", "done", "failed"]
    assert len(store.read_table("metrics")) == 2


def test_two_commands_do_not_write_to_one_folder(tmp_path):
    store = CampaignFolder(tmp_path)
    store.create()
    with store.lock(), pytest.raises(UserError, match="is running this campaign"), store.lock():
        pass


def test_facts_written_twice_have_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        pq.write_table(invent(2)["deliveries"], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
