"""What a recorder takes down, row by row: in order, once, in memory or in a folder, few rows or many."""

import msgspec
import numpy as np
import pytest

from roamcast.content.filter import Filter
from roamcast.facts import writer
from roamcast.facts.folder import FactsFolder
from roamcast.facts.pack import PACK
from roamcast.facts.recorder import CATEGORIES, CodedColumn, Recorder
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.facts.writer import RUN_FILE
from roamcast.routing.router import Publication

from .conftest import NEWS, RUN


def drops(recorder, times, kinds, causes, category=0):
    count = len(times)
    recorder.drops(
        time=np.array(times),
        node=np.arange(count),
        peer=np.full(count, -1),
        category=CodedColumn(np.full(count, category), CATEGORIES),
        kind=CodedColumn(np.array([kinds.index(kind) for kind in kinds]), kinds),
        publication=np.full(count, 7),
        cause=CodedColumn(np.arange(count), causes),
    )


def test_every_row_keeps_its_cells():
    r = Recorder()
    r.publication(1.5, Publication(3, 2, NEWS, 99))
    r.expectations(5, [4, 2])
    r.expectations(6, [1])
    r.delivery(5, 2, 1.75)
    r.deliveries(time=np.array([2.0, 3.0]), node=np.array([7, 8]), publication=np.array([5, 6]))
    r.interest(0.5, 9, Filter.everything(NEWS.type), False)
    r.table_size(4.0, 1, "routes", 3, 48)
    facts = r.facts(RUN)
    assert facts["publications"].to_pylist() == [
        {"publication": Publication(3, 2, NEWS, 99).id, "time": 1.5, "publisher": 3, "size": 99}
        | {"event": NEWS.to_json()}
    ]
    assert [tuple(row.values()) for row in facts["expectations"].to_pylist()] == [(5, 4), (5, 2), (6, 1)]
    assert [tuple(row.values()) for row in facts["deliveries"].to_pylist()] == [
        (5, 2, 1.75),
        (5, 7, 2.0),
        (6, 8, 3.0),
    ]
    assert facts["interests"].to_pylist() == [
        {"time": 0.5, "node": 9, "wanted": str(Filter.everything(NEWS.type)), "begins": False}
    ]
    assert facts["tables"].to_pylist() == [
        {"time": 4.0, "node": 1, "table": "routes", "entries": 3, "bytes": 48}
    ]


def test_what_is_held_is_counted_and_settled_once():
    r = Recorder()
    assert r.pending_rows == 0
    r.publication(1.0, Publication(3, 2, NEWS, 99))
    r.expectations(5, [4, 2])
    r.table_size(4.0, 1, "routes", 3, 48)
    r.interest(0.5, 9, Filter.everything(NEWS.type), True)
    drops(r, [1.0], ["Flood"], ["lost"])
    assert r.pending_rows == 4
    r.flush()
    assert r.pending_rows == 0
    r.flush()
    facts = r.facts(RUN)
    recorded = {name: len(facts[name]) for name in TABLES if len(facts[name])}
    assert recorded == {"publications": 1, "expectations": 2, "tables": 1, "interests": 1, "drops": 1}


def test_drops_of_one_moment_stay_in_the_order_of_their_sources():
    r = Recorder()
    drops(r, [1.0, 4.0], ["Flood", "Hello"], ["lost", "late"])
    drops(r, [4.0, 2.0], ["Hello", "Bye"], ["late", "full"])
    drops(r, [], [], [])
    found = r.facts(RUN)["drops"].select(["time", "node", "kind", "cause"]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        (1.0, 0, "Flood", "lost"),
        (2.0, 1, "Bye", "full"),
        (4.0, 1, "Hello", "late"),
        (4.0, 0, "Hello", "late"),
    ]


def test_a_kind_that_was_dropped_in_several_categories_has_the_last_of_them():
    r = Recorder()
    drops(r, [1.0], ["Flood"], ["lost"], category=2)
    drops(r, [2.0], ["Flood"], ["lost"], category=1)
    assert r.kinds() == {"Flood": CATEGORIES[2]}
    drops(r, [3.0, 3.0], ["Zeal", "Bye"], ["lost", "late"], category=3)
    assert list(r.kinds().items()) == [
        ("Bye", CATEGORIES[3]),
        ("Flood", CATEGORIES[2]),
        ("Zeal", CATEGORIES[3]),
    ]


@pytest.mark.parametrize(("rows", "packed"), [(3, True), (4, False)])
def test_so_many_rows_are_packed_and_more_are_files(tmp_path, monkeypatch, rows, packed):
    monkeypatch.setattr(writer, "MOST_ROWS", 3)
    r = Recorder(tmp_path, packed=True)
    for row in range(rows):
        r.delivery(row, 1, float(row))
    facts = r.facts(RUN)
    assert facts["deliveries"]["publication"].to_pylist() == list(range(rows))
    names = {file.name for file in tmp_path.iterdir()}
    assert names == ({PACK} if packed else {RUN_FILE, *(f"{name}.parquet" for name in TABLES)})


def test_columns_of_a_folder_are_read_in_the_order_asked_whole_or_in_pieces(facts, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "ROW_GROUP", 2)
    facts.write(tmp_path)
    folder = FactsFolder(tmp_path)
    assert list(folder) == list(TABLES) and len(folder) == len(TABLES)
    asked = folder.read("deliveries", "time", "node")
    assert asked.column_names == ["time", "node"]
    assert asked.to_pylist() == facts["deliveries"].select(["time", "node"]).to_pylist()
    pieces = list(folder.pieces("deliveries", "time", "node"))
    assert [len(piece) for piece in pieces] == [2, 2, 2]
    assert [row["time"] for piece in pieces for row in piece.to_pylist()] == asked["time"].to_pylist()
    assert str(folder.read("drops", "cause")["cause"].type).startswith("dictionary")
    assert folder["legs"].equals(facts["legs"])


def test_a_run_that_comes_to_no_end_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "ROW_GROUP", 1)
    r = Recorder(tmp_path)
    r.delivery(1, 1, 1.0)
    r.flush()
    assert [file.name for file in tmp_path.iterdir()] == [".deliveries.parquet.partial"]
    r.discard()
    assert not list(tmp_path.iterdir())
    Recorder().discard()


def test_what_was_run_is_part_of_the_digest_and_the_code_is_not(facts):
    def digest(**changes):
        return Facts(msgspec.structs.replace(RUN, **changes), facts.tables).digest()

    assert digest() == digest(version="9") == digest(events_processed=1)
    assert len({digest(), digest(seed=8), digest(duration=9.0), digest(frames={})}) == 4
