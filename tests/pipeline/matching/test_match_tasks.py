"""What each Spark task of the matching does with its batches, without Spark."""

from random import Random

import pyarrow as pa
import pytest

from bench.loads import QUOTE, Realistic
from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.pipeline.matching import match_join
from roamcast.pipeline.matching.match_join import (
    MATCHES,
    SMALL,
    BroadcastSide,
    choose_broadcast_side,
    read_filter,
)

TYPES = {QUOTE.name: QUOTE}


@pytest.fixture(scope="module")
def load():
    """Filters and events, and which match, told by the filters themselves."""
    realistic, r = Realistic(1), Random(7)
    filters, events = [realistic.filter(r) for _ in range(150)], [realistic.event(r) for _ in range(25)]
    values = {(e, k) for e, event in enumerate(events) for k, f in enumerate(filters) if f.matches(event)}
    assert len(values) > 25 and {e for e, _ in values} != set(range(25))
    return list(map(str, filters)), [event.to_json() for event in events], values


def batches(bodies, size=10, kind=None):
    """Bodies with their numbers as ids."""
    rows = list(enumerate(bodies))
    for start in range(0, len(rows), size):
        ids, texts = zip(*rows[start : start + size], strict=True)
        columns = {"id": pa.array(ids, pa.int64()), "body": pa.array(texts)}
        yield pa.record_batch(columns if kind is None else columns | {"kind": [kind] * len(ids)})


def ways(filters, events, pairs):
    """The rows that each kind of task yields."""
    asked = pa.Table.from_batches(batches(events))
    kept = pa.Table.from_batches(batches(filters))
    coded = [[text.encode() if text is not None else None for text in texts] for texts in (filters, events)]
    visits = pa.Table.from_batches([*batches(coded[0], kind=0), *batches(coded[1], kind=1)]).combine_chunks()
    work = {
        BroadcastSide.EVENTS: match_join._indexing(lambda: match_join._pairs_of(asked), TYPES, pairs)(
            batches(filters)
        ),
        BroadcastSide.FILTERS: match_join._streaming(kept, TYPES, pairs)(batches(events)),
        BroadcastSide.NEITHER: match_join._visiting(TYPES, pairs, text=True)(
            visits.to_batches(max_chunksize=7)  # one has filters and events
        ),
    }
    return {way: pa.Table.from_batches(list(found), MATCHES).to_pylist() for way, found in work.items()}


@pytest.mark.parametrize("way", BroadcastSide)
def test_every_way_finds_the_pairs_that_match_each_once(load, way):
    filters, events, result = load
    found = ways(filters, events, pairs=True)[way]
    assert sorted((row["event"], row["filter"]) for row in found) == sorted(result)
    assert {(row["count"], row["why"]) for row in found} == {(1, None)}


@pytest.mark.parametrize("way", BroadcastSide)
def test_every_way_counts_what_matches_also_if_nothing_does(load, way):
    filters, events, result = load
    found = ways(filters, events, pairs=False)[way]
    expected = [(e, sum(event == e for event, _ in result)) for e in range(len(events))]
    assert sorted((row["event"], row["count"]) for row in found) == expected
    assert {(row["filter"], row["why"]) for row in found} == {(None, None)}


@pytest.mark.parametrize("way", BroadcastSide)
def test_what_is_not_understood_is_told_with_its_reason_and_the_rest_goes_on(load, way):
    filters, events, result = load
    found = ways([*filters, "/Nonsense[", None, "/Nonsense["], [*events, "{", None], pairs=True)[way]
    good = [row for row in found if row["why"] is None]
    bad = {(row["event"], row["filter"]) for row in found if row["why"] is not None}
    assert {(row["event"], row["filter"]) for row in good} == result
    assert bad == {(None, 150), (None, 151), (None, 152), (25, None), (26, None)}
    assert next(row["why"] for row in found if row["filter"] == 151) == "no filter at all"
    assert {row["count"] for row in found if row["why"] is not None} == {None}


def test_a_reason_is_not_longer_than_it_may_be(monkeypatch):
    def refuse(*_):
        raise ContentError("x" * 1000)

    monkeypatch.setattr(match_join, "read_filter", refuse)
    monkeypatch.setattr(match_join.Event, "from_json", refuse)
    index = match_join._Index(TYPES)
    index.add([(1, "/a")])
    assert list(index.results([(2, "{}")], True)) == [(None, 1, None, "x" * 300), (2, None, None, "x" * 300)]


def test_a_filter_is_read_from_text_and_from_bytes(load):
    text = load[0][0]
    filter = Filter.parse(text, TYPES)
    assert read_filter(text, TYPES) == read_filter(bytearray(filter.to_bytes()), TYPES) == filter
    with pytest.raises(ContentError):
        read_filter(None, TYPES)


def test_rows_are_gathered_to_batches_of_a_size_with_a_rest():
    rows = [(number, None, 0, None) for number in range(7)]
    assert [len(batch) for batch in match_join._gather(rows, 3)] == [3, 3, 1]
    assert [len(batch) for batch in match_join._gather(rows[:6], 3)] == [3, 3]
    assert list(match_join._gather([], 3)) == []
    assert [row["event"] for batch in match_join._gather(rows, 3) for row in batch.to_pylist()] == [*range(7)]


@pytest.mark.parametrize(
    ("filters", "events", "way"),
    [
        (SMALL, SMALL, BroadcastSide.FILTERS),
        (SMALL, SMALL + 1, BroadcastSide.FILTERS),
        (SMALL + 1, SMALL, BroadcastSide.EVENTS),
        (SMALL, SMALL - 1, BroadcastSide.EVENTS),
        (SMALL + 1, SMALL + 1, BroadcastSide.NEITHER),
        (0, 0, BroadcastSide.FILTERS),
    ],
)
def test_what_is_small_goes_to_everyone_up_to_its_bound(filters, events, way):
    assert choose_broadcast_side(filters, events) is way


@pytest.mark.parametrize("times", [1, 2], ids=["seldom repeated", "repeated"])
def test_the_pairs_do_not_depend_on_how_many_parsed_filters_are_kept(load, monkeypatch, times):
    filters, events, result = load
    monkeypatch.setattr(match_join, "_REMEMBERED", 8)
    found = ways([text for text in filters for _ in range(times)], events, pairs=True)
    for rows in found.values():
        pairs = sorted((row["event"], row["filter"]) for row in rows)
        assert pairs == sorted((e, times * k + again) for e, k in result for again in range(times))
