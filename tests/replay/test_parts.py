"""Recordings that are read in parts equal those in memory, and read few row groups at a time."""

import http.client
import threading
from shutil import copytree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.folder import FactsFolder
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError
from roamcast.replay.packing import Packer, read_column, unpack
from roamcast.replay.parts import air as module
from roamcast.replay.parts.byte_cache import ByteCache
from roamcast.replay.parts.rows import TimedRows
from roamcast.replay.recording import Recording
from roamcast.replay.server import LOOPBACK, ReplayServer

GROUP = 100


class CountingFolder(FactsFolder):
    """Counts the row groups that are read."""

    reads = 0

    def read_group(self, table, group, columns):
        self.reads += 1
        return super().read_group(table, group, columns)


@pytest.fixture
def folder(shopping, tmp_path, monkeypatch):
    """The facts of CBR with small row groups, and small pieces."""
    monkeypatch.setattr(module, "PIECE", 80)
    copytree(shopping["cbr"], tmp_path, dirs_exist_ok=True)
    for name in ("transmissions", "drops"):
        rows = pq.read_table(shopping["cbr"] / f"{name}.parquet")
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=GROUP, write_page_checksum=True)
    return tmp_path


def read_all(result, columns):
    """Return a header with its columns instead of what it says of them."""
    if isinstance(result, dict) and "at" in result and "rows" in result:
        return read_column(result, columns).tolist()
    if isinstance(result, dict):
        return {key: read_all(value, columns) for key, value in result.items()}
    return [read_all(each, columns) for each in result] if isinstance(result, list) else result


def unpacked(recording):
    packer = Packer()
    header = read_all(*unpack(packer.finish(recording.pack(packer))))
    for piece in header["pieces"]:
        piece["drops"]["cause"] = [piece["causes"][number] for number in piece["drops"]["cause"]]
        del piece["causes"]
    return header


def test_a_run_read_in_parts_equals_the_run_in_memory(folder):
    parts = Recording(Facts.open(folder), source=FactsFolder(folder))
    whole = Recording(Facts.read(folder))
    assert parts.pieces > 5
    found, expected = unpacked(parts), unpacked(whole)
    for key in expected:
        assert str(found[key]) == str(expected[key]), key  # as text: nan equals nan
    for event in (3, 100, 200):
        assert parts.find_passage(event) == whole.find_passage(event)


def test_a_piece_reads_the_row_groups_of_its_time_only(folder):
    source = CountingFolder(folder)
    recording = Recording(Facts.open(folder), source=source)
    for piece in reversed(range(recording.pieces)):
        before = source.reads
        recording.pack_piece(Packer(), piece)
        assert source.reads - before <= 7
    assert sum(len(source.group_sizes(each)) for each in ("transmissions", "drops")) >= 14


class Groups:
    """Row groups of drops with the given times."""

    def __init__(self, groups):
        self.tables, number = [], 0
        for times in groups:
            rows = len(times)
            columns = {
                field.name: pa.array([""] * rows).dictionary_encode().cast(field.type)
                if pa.types.is_dictionary(field.type)
                else pa.array([0] * rows).cast(field.type)
                for field in TABLES["drops"]
            }
            columns["time"] = pa.array(times, pa.float64())
            columns["publication"] = pa.array(range(number, number + rows), pa.int64())
            number += rows
            self.tables.append(pa.table(columns, schema=TABLES["drops"]))

    def group_sizes(self, table):
        return [len(rows) for rows in self.tables]

    def read_group(self, table, group, columns):
        return self.tables[group].select(columns)


TIMES = st.lists(st.lists(st.integers(0, 12).map(float), max_size=6), max_size=6)


@given(TIMES, st.integers(-1, 13), st.integers(-1, 13), st.sampled_from([0, 300, None]))
def test_rows_of_any_order_are_found_in_order_of_time(groups, start, end, held_bytes):
    seen = []
    rows = TimedRows(Groups(groups), "drops", ("time",), lambda part: seen.append(len(part)), held_bytes)
    times = np.array([time for group in groups for time in group])
    order = [number for number in np.argsort(times, kind="stable").tolist() if start <= times[number] < end]
    assert rows.between(start, end)["publication"].to_pylist() == order
    assert rows.between(start, end)["publication"].to_pylist() == order  # from the cache
    assert rows.between(-np.inf, np.inf)["time"].to_pylist() == sorted(times.tolist())
    assert [time for block in rows.times() for time in block] == sorted(times.tolist())
    assert sum(seen) == len(rows) == len(times)


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf])
def test_a_time_that_is_no_number_is_refused(time):
    with pytest.raises(FactsError, match="no number of seconds"):
        TimedRows(Groups([[1.0, time]]), "drops", ("time",), len)


@given(st.lists(st.tuples(st.integers(0, 9), st.binary(max_size=12))), st.integers(0, 30))
def test_a_cache_keeps_the_last_values_within_its_bytes(puts, limit):
    cache = ByteCache(limit, len)
    for key, value in puts:
        cache.put(key, value)
        assert cache.get(key) == value or len(value) > limit
        kept = [cache.get(each) for each in range(10)]
        assert cache.held == sum(len(each) for each in kept if each is not None) <= limit


def ask(server, target):
    connection = http.client.HTTPConnection(LOOPBACK, server.server_address[1], timeout=20)
    connection.request("GET", target)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_facts_that_are_damaged_while_they_are_served_are_a_clear_answer(folder):
    with ReplayServer([Recording(Facts.open(folder), source=FactsFolder(folder))]) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        assert ask(server, "/piece?run=0&piece=0")[0] == 200
        file = folder / "transmissions.parquet"
        file.write_bytes(file.read_bytes()[:-100])
        status, page = ask(server, "/piece?run=0&piece=6")
        assert status == 500 and b"transmissions.parquet: damaged" in page
        server.shutdown()
        thread.join()
