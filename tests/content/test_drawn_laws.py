"""Laws over subscriptions with every kind of field: relations, index, cover, summary and groups.

The slow reference is always the same: ask each filter about each event.
"""

from functools import partial
from itertools import pairwise, permutations
from random import Random

import pytest

from bench.loads import Realistic
from roamcast.content.codec import decode_event, encode_event
from roamcast.content.covering import MinimalCover, RelationCache
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover, share
from roamcast.content.grouping.cluster import least_constrained
from roamcast.content.grouping.features import cluster_count, vectors
from roamcast.content.grouping.graph import SubscriptionGraph, graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.hull import hull, union
from roamcast.content.grouping.incremental import METHODS, make_incremental
from roamcast.content.grouping.kmeans import kmeans_groups
from roamcast.content.grouping.partition import signature
from roamcast.content.match import MatchIndex
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.false_positives import FalsePositiveSample
from roamcast.content.summary.fitting import coarsenings, fit, within
from roamcast.content.summary.selectivity import Selectivity
from roamcast.content.summary.summary import join_rows

from .drawn import SORTS, events_around, examples, filters

SEEDS = {"any": 40, "spot": 16, "trip": 24}
CASES = [(sort, seed) for sort in SORTS for seed in range(SEEDS[sort])]
DECIDED = {"any": 1.0, "spot": 0.5, "trip": 0.8}
"Least share of the questions that must have an answer: a filter that always gives up would obey every law."


def draw(sort, seed):
    some = filters(Random(f"laws/{sort}/{seed}"), sort)
    return some, events_around(some, seed=seed)


def answer(question):
    """The answer, or None if the question is refused as too hard."""
    try:
        return question()
    except ContentError:
        return None


@pytest.mark.parametrize(("sort", "seed"), CASES)
def test_a_filter_keeps_its_meaning_in_text_in_bytes_simplified_and_negated(sort, seed):
    some, events = draw(sort, seed)
    for each in some:
        assert Filter.parse(str(each), each.type) == each
        assert Filter.from_bytes(each.to_bytes(), each.type) == each
        assert all(each.matches(event) for event in examples(each))
        asked = [each.matches(event) for event in events]
        assert [each.simplify().matches(event) for event in events] == asked
        if (negated := answer(lambda each=each: ~each)) is not None:
            assert [not negated.matches(event) for event in events] == asked
            assert not any(each.matches(event) for event in examples(negated))
        others = answer(lambda each=each: [e for e, _ in zip(each.counterexamples(), range(4), strict=False)])
        assert not any(each.matches(event) for event in others or ())
        for part in each.conjunctions:
            alone = Filter(each.type, (part,))
            assert 0 < share(each.type, part) <= 1 or answer(lambda alone=alone: alone.empty) is not False
    for event in events:
        assert decode_event(encode_event(event), event.type) == event
        assert Event.from_json(event.to_json(), event.type) == event
        assert EventDigest.from_bytes(EventDigest.of(event).to_bytes()) == EventDigest.of(event)


@pytest.mark.parametrize("sort", SORTS)
def test_relations_agree_with_events_and_with_their_witnesses(sort):
    asked = answered = 0
    for seed in range(SEEDS[sort]):
        some, events = draw(sort, seed)
        for one, other in permutations(some, 2):
            ones, others = ([each.matches(event) for event in events] for each in (one, other))
            covers, meets = one.covers(other), one.intersects(other)
            assert not covers or all(a or not b for a, b in zip(ones, others, strict=True))
            assert meets or not any(a and b for a, b in zip(ones, others, strict=True))
            assert one.equivalent(other) == (covers and other.covers(one))
            both, either, merged = (
                answer(partial(ask, other)) for ask in (one.__and__, one.__or__, one.merge)
            )
            for joint, expected in ((both, all), (either, any), (merged, any)):
                if joint is not None:
                    pairs = zip(ones, others, strict=True)
                    assert [joint.matches(event) for event in events] == [expected(pair) for pair in pairs]
            asked += 2
            witness = answer(lambda one=one, other=other: (other & ~one).example() or ...)
            if witness is not None:
                answered += 1
                assert covers == (witness is ...)
            shared = answer(lambda both=both: both.example() or ...) if both is not None else None
            if shared is not None:
                answered += 1
                assert meets == (shared is not ...)
    assert answered >= DECIDED[sort] * asked, f"{answered} of {asked}"


@pytest.mark.parametrize("sort", SORTS)
def test_index_and_cover_equal_the_loop_while_filters_come_and_go(sort):
    r = Random(f"come and go/{sort}")
    for first in range(3):
        some = [each for seed in range(first * 5, first * 5 + 5) for each in draw(sort, seed)[0]]
        some = [each for each in some if each.type is some[0].type]
        some += some[::4]
        events = events_around(some, 25, first)
        index, cover, there, kept = MatchIndex(), MinimalCover(few=r.choice((0, 6))), {}, {}
        for _ in range(3 * len(some)):
            key = r.randrange(len(some))
            if key in there and r.random() < 0.6:
                index.remove(key)
                del there[key]
            else:
                index.add(key, some[key])
                there[key] = some[key]
            if some[key] in kept and r.random() < 0.6:
                cover.discard(some[key])
                kept.pop(some[key])
            else:
                cover.add(some[key])
                kept.setdefault(some[key])
        assert len(index) == len(there)
        for event in events:
            assert sorted(index.match(event)) == sorted(k for k, each in there.items() if each.matches(event))
        assert cover.minimal() == RelationCache().minimal_cover(kept)
        for each in some:
            assert set(cover.covering(each)) == {wide for wide in cover.minimal() if wide.covers(each)}


@pytest.mark.parametrize(("sort", "seed"), CASES)
def test_what_stands_for_several_filters_lets_in_all_that_they_match(sort, seed):
    some, events = draw(sort, seed)
    some = [each for each in some if examples(each, 1)]
    if not some:
        return
    wanted = [event for event in events if any(each.matches(event) for each in some)]
    for cover in (
        hull(some),
        union(some, 2),
        union(some, 64),
        BoundedCover.of(some, 60),
        BoundedCover.of(some),
    ):
        assert all(cover.matches(event) for event in wanted)
        assert Filter.from_bytes(cover.to_bytes(), cover.type) == cover
    assert len(hull(some).conjunctions) == 1 and len(union(some, 2).conjunctions) <= 2
    least = min(len(hull(some).to_bytes()), 60)
    assert len(BoundedCover.of(some, 60).to_bytes()) <= max(60, least)
    apart = Summary.of(some, BloomShape(64, 2), apart=True)
    sizes = [20, 30, 45, 80]
    short = [answer(lambda size=size: within(some, size)) for size in sizes]
    assert all(len(each.to_bytes()) <= size for each, size in zip(short, sizes, strict=True) if each)
    fitted = answer(lambda: fit(Summary.of(some, BloomShape(64, 2)), 24))
    for summary in (Summary.of(some), apart, *coarsenings(apart), *short, fitted):
        if summary is not None:
            assert Summary.from_bytes(summary.to_bytes()) == summary
            assert all(summary.admits(event) for event in wanted)


@pytest.mark.parametrize("seed", range(4))
def test_a_coarser_summary_admits_more_and_is_estimated_to(seed):
    r, load = Random(seed), Realistic(seed)
    some = [load.filter(r) for _ in range(12)]
    events = [load.event(r) for _ in range(150)]
    start = Summary.of(some, BloomShape(512, 2), apart=True)
    judge, known = FalsePositiveSample(some), Selectivity(some)
    assert judge.weight(Summary.of([])) == 0 == known.weight(Summary.of([]))
    for each in coarsenings(start):
        assert judge.weight(start) <= judge.weight(each) + 1e-9
        assert all(each.admits(event) for event in events if start.admits(event))
    for name, rows in start.rows.items():
        for one, other in pairwise(rows):
            joined = join_rows(one, other)
            assert judge.loss(name, (one, other), joined) >= -1e-9
            assert known.row(name, joined) >= max(known.row(name, one), known.row(name, other)) - 1e-9
        for place, part in (each for row in rows for each in row.items()):
            assert 0 <= known.part(name, place, part) <= 1


WAYS = {
    "least": least_constrained,
    "graph": graph_groups,
    "kmeans": lambda some: kmeans_groups(some, 4),
    "kmeans, as many as fields": kmeans_groups,
    "agglomerative": lambda some: agglomerative_groups(some, 4),
    "divisive": lambda some: divisive_groups(some, 4),
}


def gathered(sort, first):
    """Filters of one type that have an example, some of them twice."""
    found = [each for seed in range(first, first + 5) for each in draw(sort, seed)[0] if examples(each, 1)]
    return [*found, *found[::4]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sort", ["spot", "trip"])
def test_groups_are_a_partition_and_cover_their_members(sort, way):
    some = gathered(sort, 0)
    groups = WAYS[way](some)
    assert sorted(n for group in groups for n in group.members) == list(range(len(some)))
    events = events_around(some, 40)
    for group in groups:
        for event in events:
            assert group.filter.matches(event) or not any(some[n].matches(event) for n in group.members)
    assert [(group.members, group.filter) for group in WAYS[way](some)] == [
        (group.members, group.filter) for group in groups
    ]
    if way.endswith("e") or way == "kmeans":
        assert len(groups) <= 4


@pytest.mark.parametrize("sort", ["spot", "trip"])
def test_the_numbers_behind_groups(sort):
    some = gathered(sort, 0)
    rows = vectors(some)
    assert len(rows) == len(some) and 1 <= cluster_count(some) <= len(some[0].type.fields)
    twins = [(n, some.index(each)) for n, each in enumerate(some) if some.index(each) != n]
    assert twins and all((rows[n] == rows[first]).all() for n, first in twins)
    assert all(signature(some[n]) == signature(some[first]) for n, first in twins)
    graph = SubscriptionGraph(some).to_text()
    assert all(str(each) in graph for each in some)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sort", ["spot", "trip"])
def test_groups_that_follow_hold_every_filter_once_and_cover_it(sort, method):
    r = Random(f"followed/{sort}/{method}")
    some = gathered(sort, 10)
    events = events_around(some, 12)
    following, there = make_incremental(method, r.choice((None, 3))), set()
    for step in range(3 * len(some)):
        key = r.randrange(len(some))
        if key in there and r.random() < 0.6:
            following.remove(key)
            there.discard(key)
        else:
            following.add(key, some[key])
            there.add(key)
        if step % 5 == 4:
            following.trigger(r.choice(events))
            groups = following.groups(some[0].type)
            assert sorted(key for _, members, _ in groups for key in members) == sorted(there)
            for _, members, filter in groups:
                for event in events:
                    assert filter.matches(event) or not any(some[n].matches(event) for n in members)
