"""The arithmetic under grouping: shares of events, rows of numbers, cuts of an event space."""

from itertools import count, pairwise
from random import Random

import numpy as np
import pytest

from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import LETTER, WORD, share
from roamcast.content.grouping.cluster import FilterCluster, cost
from roamcast.content.grouping.embedding import Embedding
from roamcast.content.grouping.features import columns
from roamcast.content.grouping.partition import BALANCED, SignaturePartition
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field

TRACK = EventType("track", {"length": Integer(0, 99)})
SONG = EventType(
    "song",
    (
        Field("year", Integer(0, 99)),
        Field("style", Enumeration(("pop", "jazz", "classic", "rock"))),
        Field("title", String()),
        Field("price", Decimal()),
        Field("gain", Decimal(0.0, 10.0)),
        Field("track", RecordList(TRACK)),
    ),
)


def share_of(filter):
    [box] = filter.conjunctions
    return share(filter.type, box)


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (SONG.year == 3, 1 / 100),
        ((SONG.year >= 10) & (SONG.year <= 29), 20 / 100),
        (SONG.year.isin([1, 5, 9]), 3 / 100),
        (SONG.style.isin(["pop", "rock"]), 1 / 2),
        ((SONG.gain >= 2.5) & (SONG.gain <= 5.0), 1 / 4),
        (SONG.price >= 0, 1 / 2),
        ((SONG.price >= -100) & (SONG.price <= 100), 1 / 2),
        (SONG.title == "So What", WORD),
        (SONG.title.isin(["a", "b", "c"]), 3 * WORD),
        (SONG.title.startswith("a"), LETTER),
        (SONG.title.like("a*b"), LETTER**2),
        (SONG.title.contains("a"), 1 / 2),
        (Filter.parse("/song[track/length > 3]", SONG), 1 / 2),
        (Filter.parse("/song[track/length > 3 and not(track/length > 90)]", SONG), 1 / 4),
        ((SONG.style == "pop") & (SONG.year == 3), 1 / 4 / 100),
    ],
)
def test_the_share_of_events_that_a_conjunction_lets_through(filter, expected):
    assert share_of(filter) == pytest.approx(expected)


def naive_weights(filters, embedding):
    rows = np.array([embedding.embed(filter) for filter in filters])
    starts = np.cumsum([0, *(len(columns(field.kind, None, (0.0, 1.0))) for field in SONG.fields)])
    deviation = rows.std(axis=0)
    return np.concatenate(
        [np.full(last - first, deviation[first:last].mean()) for first, last in pairwise(starts)]
    )


def test_weights_by_sums_are_the_deviations_of_the_rows_that_are_there():
    r, embedding = Random(3), Embedding(SONG)
    held = {}
    for step in range(120):
        if held and r.random() < 0.4:
            embedding.remove(held.popitem()[0])
        else:
            low = r.randrange(90)
            filter = (SONG.year >= low) & (SONG.year <= low + r.randrange(10))
            filter = filter | (SONG.style == "jazz") if step % 3 else filter
            held[embedding.add(filter)] = filter
        if held:
            assert embedding.distances(np.eye(embedding.width), np.zeros((1, embedding.width)))[
                :, 0
            ] ** 2 == (pytest.approx(naive_weights(held.values(), embedding), abs=1e-6))


def test_a_row_is_the_mean_of_its_alternatives_on_the_scale_of_all():
    embedding = Embedding(SONG)
    embedding.add((SONG.year >= 20) & (SONG.year <= 60))
    one, other = (SONG.year >= 30) & (SONG.year <= 50), (SONG.style == "pop") & (SONG.year == 40)
    assert embedding.embed(one)[:3] == pytest.approx([1, 0.25, 0.75])
    assert embedding.embed(one | other) == pytest.approx((embedding.embed(one) + embedding.embed(other)) / 2)


def test_rows_are_looked_at_in_turn_from_any_one_on():
    embedding = Embedding(SONG)
    rows = [embedding.add(SONG.year == n) for n in range(8)]
    embedding.remove(rows.pop(2))
    assert embedding.live(1, 3) == [1, 3, 4]
    assert embedding.live(15, 3) == [0, 1, 3]


@pytest.mark.parametrize(("often", "moved"), [(9, False), (10, True), (14, True)])
def test_the_lightest_bucket_moves_from_a_group_that_weighs_more_than_twice_another(often, moved):
    signatures = SignaturePartition(SONG, count(), 2)
    words = ["heavy", "light", "small", *["heavy"] * (often - 1)]
    words += ["light"] * (BALANCED - len(words))
    for place, word in enumerate(words[:-1]):
        signatures.add(place, (SONG.title == word) & (SONG.year == place))
    heavy, light = signatures.label(0), signatures.label(1)
    assert signatures.label(2) == heavy != light
    signatures.add(BALANCED, (SONG.title == words[-1]) & (SONG.year == 50))
    # One signature a bucket, so a group weighs as much as it has members.
    assert signatures.label(2) == (light if moved else heavy)
    lighter = BALANCED - often - 1 + moved
    assert signatures.weights() == {heavy: BALANCED - lighter, light: lighter}


def test_noise_is_the_share_of_deliveries_that_nobody_asked_for():
    filters = [TRACK.length > 10, TRACK.length > 50, TRACK.length > 90]
    result = cost(
        [FilterCluster((0, 1, 2), TRACK.length > 10)], filters, [TRACK(length=n) for n in (5, 20, 60, 95)]
    )
    assert (result.channels, result.sent, result.deliveries, result.unwanted) == (1, 3, 9, 2 + 1)
    assert result.noise == pytest.approx(1 / 3)
    assert cost([], filters, [TRACK(length=20)]).noise == 0
