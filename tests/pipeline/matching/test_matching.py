"""Matching and grouping on Spark come to what one machine comes to."""

from random import Random

import pytest

from bench.loads import QUOTE, Realistic
from roamcast.content.field_type import Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.kmeans import kmeans_groups
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType
from roamcast.pipeline.matching.clustering import cluster, to_groups
from roamcast.pipeline.matching.match_join import SMALL, BroadcastSide, choose_broadcast_side, match

TYPES = {QUOTE.name: QUOTE}


def load(filters, events):
    realistic, r = Realistic(1), Random(7)
    return [realistic.filter(r) for _ in range(filters)], [realistic.event(r) for _ in range(events)]


def frames(spark, filters, events):
    return (
        spark.createDataFrame(list(enumerate(filters)), "id long, filter string"),
        spark.createDataFrame(list(enumerate(events)), "id long, event string"),
    )


def test_the_smaller_goes_to_everyone():
    assert choose_broadcast_side(1000, 10 * SMALL) is BroadcastSide.FILTERS
    assert choose_broadcast_side(10 * SMALL, 1000) is BroadcastSide.EVENTS
    assert choose_broadcast_side(SMALL + 1, SMALL + 1) is BroadcastSide.NEITHER
    assert choose_broadcast_side(2000, 1000) is BroadcastSide.EVENTS


@pytest.mark.parametrize(
    "way",
    [
        *(pytest.param(way, marks=pytest.mark.slow) for way in (BroadcastSide.EVENTS, BroadcastSide.FILTERS)),
        BroadcastSide.NEITHER,
    ],
)
def test_counts_are_those_of_the_index_of_one_machine(spark, way):
    filters, events = load(300, 40)
    index = MatchIndex()
    for key, filter in enumerate(filters):
        index.add(key, filter)
    expected = {number: len(index.match(event)) for number, event in enumerate(events)}
    assert sum(expected.values()) > 40
    assert 0 in expected.values()
    asked = frames(spark, [*map(str, filters), "/Nonsense["], [*(event.to_json() for event in events), "{"])
    found = match(*asked, TYPES, way=way, parts=3).collect()
    assert {row["event"]: row["count"] for row in found if row["why"] is None} == expected
    bad = {(row["event"], row["filter"]) for row in found if row["why"] is not None}
    assert bad == {(None, 300), (40, None)}


@pytest.mark.slow
def test_pairs_and_bytes(spark):
    filters, events = load(200, 20)
    expected = {
        (e, k) for e, event in enumerate(events) for k, filter in enumerate(filters) if filter.matches(event)
    }
    coded = spark.createDataFrame(
        [(key, bytearray(filter.to_bytes())) for key, filter in enumerate(filters)], "id long, filter binary"
    )
    published = frames(spark, [], [event.to_json() for event in events])[1]
    for way in BroadcastSide:
        found = match(coded, published, TYPES, way=way, pairs=True).collect()
        assert {(row["event"], row["filter"]) for row in found} == expected
        assert len(found) == len(expected)


@pytest.mark.slow
def test_groups_that_are_plain_to_see_are_found_on_spark_as_on_one_machine(spark):
    offer = EventType("offer", {"price": Integer(0, 1000), "what": String()})
    r = Random(3)
    texts = [
        f"/offer[price >= {base + r.randrange(5)} and price <= {base + 20 + r.randrange(5)}]"
        for base in (0, 300, 900)
        for _ in range(30)
    ]
    r.shuffle(texts)
    filters = [Filter.parse(text, offer) for text in texts]
    expected = kmeans_groups(filters, 3)
    found = to_groups(cluster(frames(spark, texts, [])[0], {"offer": offer}, 3))
    assert [group.members for group in found] == [group.members for group in expected]
    assert [str(group.filter) for group in found] == [str(group.filter) for group in expected]
