"""A run is read from what counts now: commits, compactions and added columns since the first read."""

import pytest
from small_lake import facts_of, ready, stage_packed
from test_commits import RUNS, open_store

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError
from roamcast.lake.reading import read_run
from roamcast.pipeline.committing import compaction
from roamcast.pipeline.committing.commit import Committer

ABOUT = (
    '{"scenario": "s", "protocol": "flooding", "parameters": {}, "seed": 1, "duration": 1.0, "warmup": 0.0, '
    '"range": 250.0, "nodes": 2, "kinds": {}, "version": "0", "events_processed": 0, "frames": {}, '
    '"drops": {}}'
)


def add_run(store, run):
    tables = {name: schema.empty_table() for name, schema in TABLES.items()} | facts_of(run)
    stage_packed(store, run, tables, ABOUT)
    Committer(None, store).commit(ready(store))


def delivered(folder, run):
    facts: Facts = read_run(str(folder), run)
    return facts.tables["deliveries"].to_pylist()


def test_a_process_that_read_a_lake_sees_what_is_committed_and_compacted_later(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction.choose, "__defaults__", (2, compaction.LARGE))
    store = open_store(tmp_path)
    add_run(store, RUNS[0])
    assert delivered(tmp_path, RUNS[0]) == facts_of(RUNS[0])["deliveries"].to_pylist()
    add_run(store, RUNS[1])
    assert delivered(tmp_path, RUNS[1]) == facts_of(RUNS[1])["deliveries"].to_pylist()
    Committer(None, store).compact()
    store.tidy()
    for run in RUNS[:2]:
        assert delivered(tmp_path, run) == facts_of(run)["deliveries"].to_pylist()
    Committer(None, store).drop(frozenset(RUNS[:1]))
    with pytest.raises(Exception, match=f"has no run {RUNS[0]}"):
        delivered(tmp_path, RUNS[0])


def test_a_run_of_an_older_version_without_a_column_is_refused_in_a_line(tmp_path):
    store = open_store(tmp_path)
    tables = {name: schema.empty_table() for name, schema in TABLES.items()} | facts_of(RUNS[0])
    tables["deliveries"] = tables["deliveries"].drop_columns(["time"])
    stage_packed(store, RUNS[0], tables, ABOUT)
    Committer(None, store).commit(ready(store))
    with pytest.raises(
        FactsError, match=r"by an older version, without the column deliveries\.time"
    ) as raised:
        read_run(str(tmp_path), RUNS[0])
    assert "\n" not in str(raised.value)
