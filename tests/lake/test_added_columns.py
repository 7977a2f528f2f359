"""A column that was added to a table of facts is null in files of older versions, also after compaction."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_lake import content, expected, ready, stage
from test_commits import RUNS, open_store

import roamcast
from roamcast.lake.batch import table_file
from roamcast.lake.columns import TABLES, conform
from roamcast.lake.reading import BatchFiles
from roamcast.lake.snapshot import Batch, Commit, CommittedRun, TableFile
from roamcast.lake.staging import digest
from roamcast.pipeline.committing import compaction
from roamcast.pipeline.committing.commit import Committer

ADDED = {"deliveries": ["time"], "drops": ["cause", "peer"]}
"Columns that the older version did not have, words among them."


def commit_older(store, run):
    """Commit a run as a version without the columns `ADDED` would have."""
    files = {}
    for table, columns in ADDED.items():
        found = pa.Table.from_pylist(expected([run], table)[run])
        rows = found.add_column(0, "run", pa.array([run] * len(found))).drop_columns(columns)
        place = table_file(store.facts, table, f"older{run}")
        place.local.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, place.local, write_page_checksum=True)
        files[table] = TableFile(place.local.stat().st_size, len(rows), digest(place.local))
    entry = Commit([Batch(f"older{run}", {run: CommittedRun(rows=4, size=1)}, files)])
    assert store.log.append(store.snapshot(), entry) is not None


def without(rows, table):
    return [{name: None if name in ADDED[table] else value for name, value in row.items()} for row in rows]


@pytest.fixture
def store(tmp_path):
    """A lake with two runs of the older version and two of this one."""
    made = open_store(tmp_path)
    for run in RUNS[:2]:
        commit_older(made, run)
    for run in RUNS[2:4]:
        stage(made, run)
        Committer(None, made).commit(ready(made))
    return made


def check(folder):
    for table in ADDED:
        want = expected(RUNS[:4], table)
        want |= {run: without(want[run], table) for run in RUNS[:2]}
        assert content(folder, table) == want


def test_older_and_newer_runs_are_read_together_compacted_and_pruned(store, tmp_path, monkeypatch):
    check(tmp_path)
    monkeypatch.setattr(compaction.choose, "__defaults__", (4, compaction.LARGE))
    assert Committer(None, store).compact() == 3
    check(tmp_path)
    Committer(None, store).drop(frozenset(RUNS[1:2]))
    assert content(tmp_path, "drops").keys() == {RUNS[0], *RUNS[2:4]}


def test_rows_of_one_run_have_all_columns(store):
    [batch] = [each for each in store.snapshot().batches.values() if RUNS[0] in each.runs]
    with BatchFiles(store.facts, batch, {"drops": ["node", "cause"]}) as files:
        found = files.read(RUNS[0], "drops", ["cause", "node"])
    assert found.to_pylist() == [{"cause": None, "node": 1}]


def test_a_column_that_is_no_longer_there_is_left_out(store):
    rows = pa.table({"run": ["a"], "gone": [1], "node": pa.array([2], pa.int32())})
    assert conform(rows, "deliveries").to_pylist() == [
        {**dict.fromkeys(TABLES["deliveries"].names), "run": "a", "node": 2}
    ]


def test_every_column_of_the_lake_may_be_null_but_the_run(tmp_path):
    open_store(tmp_path)
    for name in roamcast.lake(tmp_path).tables:
        for field in TABLES[name]:
            assert field.nullable or field.name in ("run", "told")
