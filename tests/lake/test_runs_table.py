"""The table `runs` by itself: what counts after its commits, and what is refused."""

import json
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from roamcast.lake.delta import statistics
from roamcast.lake.runs_table import RunsTable
from roamcast.lake.snapshot import Batch, Commit, CommittedRun, LakeError, Snapshot
from roamcast.lake.storage import StorageUrl


def batch(number):
    return Batch(f"b{number}", {f"run{number}": CommittedRun(rows=number, size=1)}, {})


def filled(folder, commits):
    table = RunsTable(StorageUrl(str(folder)))
    table.create()
    snapshot = table.read()
    for number in range(commits):
        snapshot = table.append(snapshot, Commit([batch(number)]))
    return table, snapshot


def logs(folder):
    return folder / "runs" / "_delta_log"


def test_what_was_committed_is_read_again(tmp_path):
    assert RunsTable(StorageUrl(str(tmp_path))).read() == Snapshot()
    table, written = filled(tmp_path, 5)
    assert table.length() == 6 and written.number == 5
    read = RunsTable(table.facts).read()
    assert read == written and list(read.batches) == [f"b{number}" for number in range(5)]
    assert read.runs()["run3"] == CommittedRun(rows=3, size=1)


def test_reading_takes_little_more_memory_than_what_is_read(tmp_path):
    times = {"wall": 1.5, "cpu": 1.25, "committed": 7.5, "memory": 5 << 20, "version": "1", "seed": 300}
    runs = {f"{number:020x}": CommittedRun(rows=1000, size=1 << 20, **times) for number in range(4096)}
    table, snapshot = filled(tmp_path, 1)
    written = table.append(snapshot, Commit([Batch("many", runs, {})]))
    RunsTable(table.facts).read()
    tracemalloc.start()
    read = RunsTable(table.facts).read()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == written
    assert peak < 1.6 * held, f"{peak / len(runs):.0f} bytes a run to read {held / len(runs):.0f}"


def test_a_first_commit_creates_the_tables(tmp_path):
    table = RunsTable(StorageUrl(str(tmp_path)))
    assert table.append(Snapshot(), Commit([batch(0)])).runs().keys() == {"run0"}
    assert DeltaTable(str(tmp_path / "drops")).count() == 0


def test_of_two_who_commit_at_once_one_reads_on_and_tries_again(tmp_path):
    table, snapshot = filled(tmp_path, 1)
    assert table.append(snapshot, Commit([batch(1)])) is not None
    assert table.append(snapshot, Commit([batch(2)])) is None
    seen = []
    then = table.commit(lambda now: seen.append(now.number) or Commit([batch(2)]), snapshot)
    assert seen == [2]
    assert then.runs().keys() == {"run0", "run1", "run2"}
    assert table.commit(lambda now: None) == then


def test_a_commit_that_loses_or_doubles_a_run_is_refused():
    held = Snapshot().after(Commit([batch(0), batch(1)]))
    joined = Batch("both", batch(0).runs | batch(1).runs, {})
    assert held.after(Commit([joined], ["b0", "b1"])).runs() == held.runs()
    with pytest.raises(LakeError, match="removes the batch b2, which does not exist"):
        held.after(Commit(remove=["b2"]))
    with pytest.raises(LakeError, match="adds the batch b1 twice"):
        held.after(Commit([batch(1)]))
    with pytest.raises(LakeError, match="adds the run run0 twice"):
        held.after(Commit([joined], ["b1"]))
    assert held.keeps_runs(Commit([joined], ["b0", "b1"])) and not held.keeps_runs(Commit(remove=["b0"]))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(200) + b"PAR1"])
def test_a_damaged_checkpoint_is_replaced_by_the_log(tmp_path, content):
    table, written = filled(tmp_path, 3)
    DeltaTable(str(tmp_path / "runs")).create_checkpoint()
    written = table.append(written, Commit([batch(3)]))
    (checkpoint,) = logs(tmp_path).glob("*.checkpoint.parquet")
    assert RunsTable(table.facts).read() == written and checkpoint.exists()
    checkpoint.write_bytes(content)
    assert RunsTable(table.facts).read() == written


@pytest.mark.parametrize("content", ["{", "[1, 2]"])
def test_a_damaged_log_is_told_in_a_line(tmp_path, content):
    table, _ = filled(tmp_path, 2)
    (logs(tmp_path) / f"{1:020}.json").write_text(content)
    with pytest.raises(LakeError, match=r"_delta_log: cannot be read .* run the campaign again") as raised:
        table.read()
    assert "\n" not in str(raised.value)


def test_a_damaged_file_of_the_table_is_told_in_a_line(tmp_path):
    table, written = filled(tmp_path, 2)
    file = tmp_path / "runs" / written.batches["b1"].record
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert table.read(written) == written, "what is known is not read again"
    with pytest.raises(LakeError, match=r"b1-\w+.parquet: does not match its digest"):
        table.read()
    file.unlink()
    with pytest.raises(LakeError, match=r"b1-\w+.parquet: is missing"):
        table.read()


def test_lakes_of_other_formats_are_refused_in_a_line(tmp_path):
    (tmp_path / "_log").mkdir()
    (tmp_path / "_log" / "00000000.json").write_text("{}")
    table = RunsTable(StorageUrl(str(tmp_path)))
    for ask in (table.read, table.create):
        with pytest.raises(
            LakeError, match="has the lake format 1, this version reads format 3; run the"
        ) as raised:
            ask()
        assert "\n" not in str(raised.value)
    newer, _ = filled(tmp_path / "newer", 1)
    first = logs(tmp_path / "newer") / f"{0:020}.json"
    lines = [json.loads(line) for line in first.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"]["roamcast.format"] = "4"
    first.write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(LakeError, match="has the lake format 4, this version reads formats 2 and 3"):
        newer.read()


def test_what_commits_brought_is_told_by_commit(tmp_path):
    table, snapshot = filled(tmp_path, 2)
    joined = Batch("both", snapshot.runs(), {})
    snapshot = table.append(snapshot, Commit([joined], ["b0", "b1"]))
    table.append(snapshot, Commit([batch(2)]))
    assert table.brought(0, 5) == {0: [], 1: ["run0"], 2: ["run1"], 3: [], 4: ["run2"]}
    assert table.brought(2, 4) == {2: ["run1"], 3: []} and table.brought(5, 5) == {}


def test_a_table_that_was_begun_anew_is_read_anew(tmp_path):
    table, written = filled(tmp_path / "first", 3)
    other, anew = filled(tmp_path / "second", 1)
    assert other.read(written).runs() == anew.runs()
    assert table.read(anew).runs() == written.runs()


def test_statistics_leave_out_what_does_not_bound_a_column(tmp_path):
    texts = ["a", "b" * 100, "c"]
    rows = pa.table({"number": [3, None, 1], "text": texts, "real": [0.5, 1.5, float("nan")]})
    pq.write_table(rows, tmp_path / "file.parquet")
    record = json.loads(statistics(pq.read_metadata(tmp_path / "file.parquet"), rows.schema, {"real"}))
    assert record == {
        "numRecords": 3,
        "minValues": {"number": 1, "text": "a"},
        "maxValues": {"number": 3, "text": "c"},
        "nullCount": {"number": 1, "text": 0, "real": 0},
    }
    pq.write_table(rows.slice(1, 1), tmp_path / "long.parquet")
    record = json.loads(statistics(pq.read_metadata(tmp_path / "long.parquet"), rows.schema))
    assert record["minValues"] == {"real": 1.5}


def test_a_forked_process_has_the_snapshot_of_its_parent(tmp_path):
    table, written = filled(tmp_path, 2)
    table.read()
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        assert pool.submit(RunsTable(table.facts).read).result() == written
