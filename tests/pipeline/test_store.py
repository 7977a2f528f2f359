"""A campaign's folder: what is kept and read again, what became of its runs, what is stale or left over."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_lake import expected, ready, stage
from test_conduct import COUNT, campaign

from roamcast.campaign.checks import make_tables
from roamcast.campaign.plan import make_plan
from roamcast.campaign.tables import METRICS_TABLE, RUNS, SUMMARY
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.committing import compaction
from roamcast.pipeline.committing.commit import Committer
from roamcast.results.errors import CampaignFolderError

IDS = [f"{number:020x}" for number in range(1, 7)]


def asked(**changes):
    sweep = {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 50]}}
    return campaign(**{"seeds": 1, "sweeps": {"people": sweep}} | changes)


@pytest.fixture
def store(tmp_path):
    made = CampaignFolder(tmp_path / "out")
    made.create()
    return made


def test_what_was_asked_is_read_again_with_its_notes(store):
    store.write_campaign(asked(), command="x", page="y")
    found, notes = store.read_campaign()
    assert found == asked() and notes == {"command": "x", "page": "y"}


def test_a_folder_without_a_campaign_or_with_a_damaged_one_is_told(store):
    file = store.folder.local / "campaign.json"
    with pytest.raises(CampaignFolderError, match=r"no campaign was run here \(no campaign.json\)"):
        store.read_campaign()
    file.write_text("{")
    with pytest.raises(CampaignFolderError, match=r"campaign.json: cannot be read; run the campaign again"):
        store.read_campaign()
    file.unlink()
    file.mkdir()
    with pytest.raises(CampaignFolderError, match=r"campaign.json: cannot be read: \S"):
        store.read_campaign()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CampaignFolderError, match="cannot write a campaign here: "):
        CampaignFolder(tmp_path / "file" / "out").create()


def test_a_table_that_is_not_made_is_told_and_metrics_that_are_not_known_are_none(store):
    with pytest.raises(CampaignFolderError, match="has no table 'summary' yet; run the campaign first"):
        store.read_table("summary")
    table, defined = store.read_metrics()
    assert table.schema == METRICS_TABLE and len(table) == 0 and defined == {}
    store.table_file("metrics").write(b"nonsense")
    assert len(store.read_metrics()[0]) == 0


def rows_of(*runs):
    return [{"run": run} | dict.fromkeys(METRICS) | {"messages": 3.0} for run in runs]


def test_the_same_rows_are_the_same_bytes_in_whatever_order_they_come(store):
    store.write_campaign(asked())
    written = []
    for runs in (("b", "a", "c"), ("c", "b", "a")):
        store.write_table("metrics", pa.Table.from_pylist(rows_of(*runs), METRICS_TABLE), {"messages": "1"})
        written.append(store.table_file("metrics").read())
    assert written[0] == written[1]
    table, defined = store.read_metrics()
    assert table["run"].to_pylist() == ["a", "b", "c"] and defined == {"messages": "1"}
    assert store.read_table("metrics")["messages"].to_pylist() == [3.0] * 3
    elsewhere = CampaignFolder(store.folder, "watch/tables")
    assert elsewhere.table_file("metrics") != store.table_file("metrics")


def fill(store, **changes):
    """Every table that one process can make, of the campaign as it is asked."""
    made = asked(**changes)
    plan = make_plan(made)
    store.write_campaign(made)
    store.write_plan(plan)
    for name, table in make_tables(made, plan.places).items():
        store.write_table(name, table)
    return plan


def test_a_table_is_stale_when_what_it_was_made_from_is_another(store):
    assert {"plan", "points", "metrics", "verdicts"} <= store.stale()
    plan = fill(store)
    made = {"plan", "points", "checks", "terms"}
    assert not made & store.stale()
    runs = [{"run": run.id, "status": "done", "error": "", "rows": 4, "size": 9} for run in plan.runs]
    store.write_table("runs", pa.Table.from_pylist([row | {"wall": 1.0} for row in runs], RUNS))
    store.write_table("metrics", pa.Table.from_pylist(rows_of("a"), METRICS_TABLE), {})
    assert not {"runs", "metrics"} & store.stale()
    store.write_table("runs", pa.Table.from_pylist([row | {"wall": 2.0} for row in runs], RUNS))
    assert "metrics" not in store.stale(), "what a run took does not count"
    store.write_table("runs", pa.Table.from_pylist([row | {"rows": 5} for row in runs], RUNS))
    assert store.stale() >= {"metrics", "summary"} and "runs" not in store.stale()
    store.write_table("metrics", pa.Table.from_pylist(rows_of("a"), METRICS_TABLE), {})
    store.write_table("summary", SUMMARY.empty_table())
    assert "summary" not in store.stale()
    store.write_table("metrics", pa.Table.from_pylist(rows_of("b"), METRICS_TABLE), {})
    assert "summary" in store.stale() and "metrics" not in store.stale()
    store.write_campaign(asked(claims={}))
    assert store.stale() >= {"checks", "terms"} and not {"plan", "points"} & store.stale()
    store.write_campaign(asked(seeds=2))
    assert store.stale() >= {"plan", "points", "runs"}


def test_every_planned_run_is_done_staged_failed_missing_or_damaged(store):
    for run in IDS[:2]:
        stage(store, run)
    Committer(None, store).commit(ready(store))
    stage(store, IDS[2])
    store.staging.write_manifest({"run": IDS[3], "status": "failed", "error": "why", "files": {}})
    (store.staging.run_folder(IDS[4]).local).mkdir()
    (store.staging.run_folder(IDS[4]).local / "manifest.json").write_text("{")
    found = store.survey([*IDS, "unplanned"][:6])
    assert list(found.done) == IDS[:2] and list(found.staged) == [IDS[2]] and list(found.failed) == [IDS[3]]
    assert found.missing == IDS[4:] and found.damaged == {IDS[4]: "its manifest cannot be read"}
    assert found.done[IDS[0]].rows == 4
    assert found.failed[IDS[3]]["error"] == "why"


@pytest.mark.parametrize("harm", ["gone", "longer"])
def test_a_batch_whose_file_is_gone_or_has_another_length_is_hurt_with_all_its_runs(store, harm):
    for run in IDS[:3]:
        stage(store, run)
        if run != IDS[0]:
            Committer(None, store).commit(ready(store))
    batch = next(each for each in store.snapshot().batches.values() if IDS[0] in each.runs)
    file = store.facts.local / "drops" / f"{batch.name}.parquet"
    text = f"drops/{batch.name}.parquet is gone"
    if harm == "gone":
        file.unlink()
    else:
        size = file.stat().st_size
        file.write_bytes(file.read_bytes() + b"x")
        text = f"drops/{batch.name}.parquet has {size + 1} bytes, not {size}"
    assert store.damaged_batches(store.snapshot()) == {batch.name: text}
    found = store.survey(IDS[:3])
    assert found.damaged == dict.fromkeys(IDS[:2], text)
    assert found.missing == IDS[:2] and list(found.done) == [IDS[2]]
    stage(store, IDS[1])
    again = store.survey(IDS[:3])
    assert list(again.staged) == [IDS[1]] and list(again.damaged) == [IDS[0]]


def test_what_killed_commands_left_is_removed_and_counted(store):
    stage(store, IDS[0])
    Committer(None, store).commit(ready(store))
    kept = {file for file in store.facts.local.rglob("*") if file.is_file()}
    for table, name in (("drops", "orphan"), ("legs", "orphan"), ("drops", "other")):
        (store.facts.local / table).mkdir(exist_ok=True)
        (store.facts.local / table / f"{name}.parquet").write_bytes(b"half")
    (store.facts.local / "drops" / "_delta_log" / "_commit_1.json.tmp").touch()
    (store.facts.local / "drops" / ".orphan.parquet.1").touch()
    (store.staging.place.local / f".work-{IDS[1]}-1").mkdir()
    assert store.tidy() == 4
    assert {file for file in store.facts.local.rglob("*") if file.is_file()} == kept
    assert not any(store.staging.place.local.iterdir())
    assert store.tidy() == 0


def test_batches_that_were_taken_out_lose_their_files_and_no_others(store):
    for run in IDS[:2]:
        stage(store, run)
        Committer(None, store).commit(ready(store))
    snapshot = store.snapshot()
    first, second = snapshot.batches
    store.remove_batches(snapshot, [first])
    left = {file.stem.partition("-")[0] for file in store.facts.local.rglob("*.parquet")}
    assert left == {second}
    assert pq.read_table(store.facts.local / "drops" / f"{second}.parquet").num_rows == 1


def test_when_a_command_has_ended_any_reader_of_parquet_sees_each_row_once(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction.choose, "__defaults__", (2, compaction.LARGE))
    conductor = CampaignRunner(asked(), CampaignFolder(tmp_path / "out"))
    with conductor.prepare():
        for run in IDS[:4]:
            stage(conductor.store, run)
            Committer(None, conductor.store).commit(ready(conductor.store))
        assert Committer(None, conductor.store).compact() == 3
    for table in ("deliveries", "drops"):
        plain = pq.read_table(tmp_path / "out" / "facts" / table).to_pylist()
        assert len(plain) == sum(len(rows) for rows in expected(IDS[:4], table).values())
