"""Incremental measuring, verifying, pruning and comparing campaigns; all of it without a Spark session."""

import json
import shutil

import pyarrow as pa
import pytest
from invented_facts import invent
from small_lake import ready, stage

from roamcast.campaign.plan import make_plan
from roamcast.campaign.tables import METRICS_TABLE
from roamcast.cli.app import invoke
from roamcast.metrics import definition
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.definition import digest_definitions
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import runs_table
from roamcast.pipeline.changes import compare_campaigns
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.committing.maintenance import prune, verify
from roamcast.pipeline.measuring.incremental import IncrementalMetrics


def campaign(*protocols):
    from test_conduct import COUNT, campaign

    sweep = {"protocols": list(protocols), "grid": {COUNT: [10, 50]}, "set": {"warmup": "0 s"}}
    return campaign(seeds=2, claims={}, sweeps={"people": sweep})


BOTH = ("flooding", "slow")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A campaign of eight runs, committed in four batches and measured."""
    return measure(tmp_path_factory.mktemp("made") / "out")


@pytest.fixture
def measured(made, tmp_path):
    """The same, to be changed."""
    store, plan = made
    shutil.copytree(store.folder.local, tmp_path / "out")
    return CampaignFolder(tmp_path / "out"), plan


def measure(folder):
    store = CampaignFolder(folder)
    store.create()
    asked = campaign(*BOTH)
    plan = make_plan(asked)
    store.write_campaign(asked)
    store.write_plan(plan)
    for run in plan.runs:
        stage(store, run.id, invent(int(run.id, 16) % 1000))
        if len(ready(store)) == 2:
            Committer(None, store).commit(ready(store))
    said = []
    assert IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), said.append) == {}
    assert said == ["measuring 8 runs ..."]
    return store, plan


def done(store):
    return store.snapshot().runs().keys()


def test_what_is_measured_stays_and_what_is_new_is_measured(measured):
    store, plan = measured
    whole = store.table_file("metrics").read()
    said = []
    assert IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), said.append) == {}
    assert not said and store.table_file("metrics").read() == whole
    some = sorted(done(store))[:5]
    IncrementalMetrics(store, plan, MetricConstants()).work(None, some, said.append)
    assert len(store.read_table("metrics")) == 5 and not said
    IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), said.append)
    assert said == ["measuring 3 runs ..."] and store.table_file("metrics").read() == whole


def test_a_metric_defined_anew_is_measured_again_and_no_other(measured):
    store, plan = measured
    whole = store.table_file("metrics").read()
    before = store.read_table("metrics").to_pylist()
    for table in ("deliveries", "legs", "drops"):  # so that a look at any of them would fail
        for name in (store.facts / table).list():
            (store.facts / table / name).remove()
    said = []
    heavier = MetricConstants(gamma=3)
    assert IncrementalMetrics(store, plan, heavier).work(None, done(store), said.append) == {}
    assert said == ["measuring 8 runs (3 metrics defined anew) ..."]
    after = store.read_table("metrics").to_pylist()
    touched = {
        name for one, other in zip(before, after, strict=True) for name in one if one[name] != other[name]
    }
    assert touched == {"messages_weighted", "overhead_weighted", "overhead_weighted_per_answer"}
    IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), said.append)
    assert store.table_file("metrics").read() == whole


def test_the_digest_of_a_metric_changes_with_its_code_and_with_nothing_else(monkeypatch):
    first = digest_definitions(MetricConstants())
    assert len(first) == len(METRICS)
    energy = digest_definitions(MetricConstants.model_validate({"energy": {"overhear_per_frame": 1.0}}))
    assert {name for name in METRICS if energy[name] != first[name]} == {"energy", "energy_per_delivery"}
    parsed = definition._parse

    def otherwise(found):
        code, names, attributes = parsed(found)
        return (code + "changed" if found.__name__ == "find_contacts" else code), names, attributes

    monkeypatch.setattr(definition, "_parse", otherwise)
    definition.definition.cache_clear()
    moved = digest_definitions(MetricConstants())
    definition.definition.cache_clear()
    by_contacts = {"energy", "energy_per_delivery", "neighbours", "reachable", "delivery_rate_reachable"}
    assert {name for name in METRICS if moved[name] != first[name]} == by_contacts


def test_a_run_that_cannot_be_read_does_not_stop_the_measuring_of_others(measured):
    store, plan = measured
    batch = min(store.snapshot().batches.values(), key=lambda each: each.name)
    (store.facts / "deliveries" / f"{batch.name}.parquet").remove()
    store.table_file("metrics").remove()
    trouble = IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), lambda _: None)
    assert trouble.keys() == batch.runs.keys() and len(store.read_table("metrics")) == 6
    assert "No such file" in next(iter(trouble.values()))


def test_every_byte_is_verified_and_damage_is_taken_out(measured, capsys):
    store, _ = measured
    folder = str(store.folder)
    assert invoke(["campaign", "verify", folder]) == 0
    assert "of 8 runs" in capsys.readouterr().out
    batch = min(store.snapshot().batches.values(), key=lambda each: each.name)
    place = store.facts / "drops" / f"{batch.name}.parquet"
    content = bytearray(place.read())
    content[100] ^= 1
    place.local.write_bytes(content)
    assert store.survey(done(store)).done.keys() == done(store), "its length is as it was"
    assert verify(store).damaged == {f"drops/{batch.name}.parquet": "does not match its digest"}
    assert invoke(["campaign", "verify", folder, "--repair", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["lost"].keys() == batch.runs.keys()
    assert done(store) == done(store) - batch.runs.keys()
    assert invoke(["campaign", "verify", folder]) == 0


def test_runs_that_nobody_plans_and_orphans_are_pruned(measured, tmp_path):
    store, plan = measured
    kept = make_plan(campaign("slow"))
    store.write_plan(kept)
    (store.facts / "drops" / "orphan.parquet").write(b"half")
    gone = {run.id for run in plan.runs} - {run.id for run in kept.runs}
    stage(store, "never-planned", invent(3))
    assert prune(store).runs == len(gone) + 1 == 5
    assert "never-planned" not in store.staging.survey()
    assert done(store) == {run.id for run in plan.runs} - gone
    assert not (store.facts / "drops" / "orphan.parquet").exists()


def test_two_campaigns_are_compared_seed_by_seed(measured, tmp_path, capsys):
    store, _ = measured
    assert invoke(["campaign", "diff", str(store.folder), str(store.folder)]) == 0
    assert "nothing changed significantly" in capsys.readouterr().out
    shutil.copytree(store.folder.local, tmp_path / "other")
    other = CampaignFolder(tmp_path / "other")
    rows = other.read_table("metrics").to_pylist()
    lifted = [row | {"messages": row["messages"] + 1000} for row in rows]
    other.write_table("metrics", pa.Table.from_pylist(lifted, METRICS_TABLE), {})
    found = compare_campaigns(store, other)
    assert (found.compared, found.same_facts, found.only_before) == (8, 8, 0)
    assert {change.metric for change in found.changes} == {"messages"} and len(found.changes) == 4
    assert all(change.significant and change.difference == 1000 for change in found.changes)
    assert invoke(["campaign", "diff", str(store.folder), str(other.folder), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["changes"][0]["significant"] is True and record["compared"] == 8


def test_a_finished_campaign_knows_that_there_is_nothing_to_do(measured):
    from roamcast.pipeline.campaign_runner import CampaignRunner

    store, plan = measured
    conductor = CampaignRunner(campaign(*BOTH), store)
    survey = conductor.survey()
    assert len(survey.done) == 8 and not conductor.is_finished(survey)
    store.write_table("runs", runs_table(plan, survey))
    assert "metrics" in store.stale()
    IncrementalMetrics(store, plan, MetricConstants()).work(None, done(store), lambda _: None)
    assert "metrics" not in store.stale()
