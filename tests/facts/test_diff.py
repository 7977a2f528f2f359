import msgspec
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.diff import ABSENT, ValueDifference, compare, describe
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts

from .conftest import RUN


def replaced(facts, name, table):
    return Facts(facts.run, {**facts.tables, name: table})


def edited(table, column, row, value):
    """The table with one cell changed."""
    values = table[column].to_pylist()
    values[row] = value
    kind = table.schema.field(column).type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    new = pa.array(values, plain)
    if pa.types.is_dictionary(kind):
        new = new.dictionary_encode().cast(kind)
    return table.set_column(table.column_names.index(column), table.schema.field(column), new)


def test_a_run_equals_itself_and_what_was_written_of_it(facts, tmp_path):
    facts.write(tmp_path)
    for other in (facts, Facts.read(tmp_path)):
        difference = compare(facts, other)
        assert difference.equal
        assert describe(difference, "a", "b") == []


def test_a_changed_cell_is_found_with_its_table_row_and_column(facts):
    later = replaced(facts, "transmissions", edited(facts["transmissions"], "kind", 2, "Bye"))
    (parting,) = compare(facts, later).tables
    assert (parting.table, parting.row, parting.columns, parting.rows) == (
        "transmissions",
        2,
        ["kind"],
        (4, 4),
    )
    assert (parting.ours["kind"], parting.theirs["kind"]) == ("Hello", "Bye")
    assert parting.ours["time"] == parting.theirs["time"] == parting.time == 12.0


def test_a_table_that_ends_early_is_told_with_the_row_that_is_missing(facts):
    shorter = replaced(facts, "deliveries", facts["deliveries"].slice(0, 3))
    (parting,) = compare(facts, shorter).tables
    assert parting.row == 3
    assert parting.ours == {"publication": 3, "node": 2, "time": 21.2}
    assert parting.theirs is None
    assert parting.columns == ["publication", "node", "time"]
    (mirrored,) = compare(shorter, facts).tables
    assert (mirrored.ours, mirrored.theirs) == (None, parting.ours)
    assert any("no such row" in line for line in describe(compare(facts, shorter), "a", "b"))


def test_the_table_that_parts_first_in_time_is_told_first(facts):
    other = replaced(facts, "drops", edited(facts["drops"], "node", 0, 3))  # at 12 s
    other = replaced(other, "deliveries", edited(facts["deliveries"], "node", 4, 3))  # at 22 s
    other = replaced(other, "expectations", edited(facts["expectations"], "node", 0, 3))  # has no time
    other = replaced(other, "transmissions", edited(facts["transmissions"], "time", 1, 11.5))
    differing = [parting.table for parting in compare(facts, other).tables]
    assert differing == ["transmissions", "drops", "deliveries", "expectations"]


def test_not_a_number_equals_itself(facts):
    odd = replaced(facts, "deliveries", edited(facts["deliveries"], "time", 1, np.nan))
    assert compare(odd, odd).equal
    assert compare(facts, odd).tables[0].columns == ["time"]


def test_what_was_run_what_was_counted_and_the_code_are_told_apart(facts):
    run = msgspec.structs.replace(
        RUN,
        seed=8,
        parameters={"hops": [1, 2]},
        frames={"data": 5, "collided": 2},
        version="1",
        events_processed=100,
    )
    difference = compare(facts, Facts(run, facts.tables))
    assert difference.run == [
        ValueDifference("parameters.jitter", 0.01, ABSENT),
        ValueDifference("parameters.hops", ABSENT, [1, 2]),
        ValueDifference("seed", 7, 8),
    ]
    assert difference.counts == [
        ValueDifference("frames.collided", 1, 2),
        ValueDifference("events_processed", 99, 100),
    ]
    assert difference.code == [ValueDifference("version", "0", "1")]
    assert not difference.equal


def test_other_code_alone_makes_no_difference(facts):
    newer = Facts(msgspec.structs.replace(RUN, version="1", events_processed=1), facts.tables)
    difference = compare(facts, newer)
    assert difference.equal and len(difference.code) == 2
    assert facts.digest() == newer.digest()


def test_lists_of_one_length_differ_item_by_item_and_others_as_a_whole(facts):
    def with_(value):
        return Facts(msgspec.structs.replace(RUN, parameters={"hops": value}), facts.tables)

    assert compare(with_([1, 2, {"a": 3}]), with_([1, 5, {"a": 4}])).run == [
        ValueDifference("parameters.hops[1]", 2, 5),
        ValueDifference("parameters.hops[2].a", 3, 4),
    ]
    assert compare(with_([1, 2]), with_([1])).run == [ValueDifference("parameters.hops", [1, 2], [1])]
    assert compare(with_([1, 2]), with_([1, 2])).equal


def test_two_rows_part_at_the_earlier_of_their_times_and_are_told_in_columns(facts):
    run = msgspec.structs.replace(RUN, seed=8, frames={"data": 6, "collided": 1}, version="1")
    later = edited(edited(facts["deliveries"], "time", 4, 25.5), "node", 4, 3)
    other = Facts(run, {**facts.tables, "deliveries": later})
    difference = compare(facts, other)
    (parting,) = difference.tables
    (mirrored,) = compare(other, facts).tables
    assert parting.time == mirrored.time == 22.0
    assert describe(difference, "ours", "the others") == [
        "the configuration differs:",
        "  seed  7 / 8",
        "the counts differ:",
        "  frames.data  5 / 6",
        "the code differs:",
        "  version  '0' / '1'",
        "deliveries: row 4 is the first that differs, of 6 and 6",
        "  ours:       publication=3  node=2  time=22.0",
        "  the others: publication=3  node=3  time=25.5",
        "  in:         node, time",
    ]
    assert describe(compare(other, facts), "the others", "ours")[-3:] == [
        "  the others: publication=3  node=3  time=25.5",
        "  ours:       publication=3  node=2  time=22.0",
        "  in:         node, time",
    ]


def test_keys_of_unequal_length_are_told_in_columns(facts):
    run = msgspec.structs.replace(RUN, seed=8, duration=9.0)
    assert describe(compare(facts, Facts(run, facts.tables)), "a", "b") == [
        "the configuration differs:",
        "  seed      7 / 8",
        "  duration  100.0 / 9.0",
    ]


TABLE = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([0.0, 1.0])), max_size=6)


@given(TABLE, TABLE)
def test_the_first_differing_row_is_the_one_that_a_loop_finds(facts_of, one, other):
    difference = compare(facts_of(one), facts_of(other))
    pairs = enumerate(zip(one, other, strict=False))
    first = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
    if one == other:
        assert difference.equal
    else:
        (parting,) = difference.tables
        assert parting.row == first
        if first < min(len(one), len(other)):
            names = TABLES["deliveries"].names
            assert parting.columns == [
                name for name, a, b in zip(names, one[first], other[first], strict=True) if a != b
            ]


def test_the_number_of_kernel_events_is_a_count_where_something_else_differs(facts):
    about = msgspec.structs.replace(facts.run, range=200.0, events_processed=facts.run.events_processed + 1)
    difference = compare(facts, Facts(about, facts.tables))
    assert [change.key for change in difference.run] == ["range"]
    assert [change.key for change in difference.counts] == ["events_processed"]
    assert difference.code == []
    assert not any("the code differs" in line for line in describe(difference, "a", "b"))
