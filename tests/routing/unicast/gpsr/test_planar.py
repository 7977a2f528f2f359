"""The planar graphs of perimeter mode: no two edges cross, all stays connected, the rules are exact."""

from itertools import combinations
from math import isnan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive_planar import PLANAR, crossing, gabriel, next_edge, relative, squared
from unit_disks import edges, parts, scatter

from roamcast.routing.router import Position
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.gpsr.messages import PointCm, to_point_cm
from roamcast.routing.unicast.gpsr.neighbourhood import AROUND, STUCK, TAKEN, Places
from roamcast.routing.unicast.gpsr.plain_places import PlainPlaces

KINDS = pytest.mark.parametrize("kind", [Places, PlainPlaces])


def planarise(places, rule):
    result = [to_point_cm(Position(*place)) for place in places]
    joined = edges(places)
    kept = set()
    for node, here in enumerate(result):
        around = {b if a == node else a: result[b if a == node else a] for a, b in joined if node in (a, b)}
        kept |= {frozenset((node, other)) for other in rule(here, around)}
    return result, kept


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(PLANAR)))
def test_a_planarised_network_is_planar_and_connected(seed, rule):
    places = scatter(seed)
    result, kept = planarise(places, PLANAR[rule])
    assert len(kept) < len(edges(places))
    for one, other in combinations(kept, 2):
        (a, b), (c, d) = sorted(one), sorted(other)
        assert len({a, b, c, d}) < 4 or crossing(result[a], result[b], result[c], result[d]) is None
    reached, ring = {0}, [0]
    while ring:
        ring = [n for edge in kept for n in edge if n not in reached and edge & set(ring)]
        reached |= set(ring)
    assert reached == parts(places)[0]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_relative_neighbourhood_graph_is_part_of_gabriels(seed):
    places = scatter(seed)
    assert planarise(places, relative)[1] <= planarise(places, gabriel)[1]


coordinates = st.integers(-50, 50)
points = st.builds(PointCm, coordinates, coordinates)


@given(points, points, points, points)
def test_a_crossing_is_the_same_from_both_ends_of_an_edge_and_lies_between(a, b, c, d):
    found = crossing(a, b, c, d)
    assert found == crossing(b, a, c, d)
    if found is not None:
        for one, other in ((a, b), (c, d)):
            assert min(one.x, other.x) <= found.x <= max(one.x, other.x)
            assert min(one.y, other.y) <= found.y <= max(one.y, other.y)


FAR = 2**23 - 1
near_or_far = st.one_of(coordinates, st.integers(-FAR, FAR), st.sampled_from([-FAR, 0, FAR]))
anywhere = st.builds(PointCm, near_or_far, near_or_far)
crowded = st.builds(PointCm, st.integers(-3, 3), st.integers(-3, 3))


@KINDS
@example(a=PointCm(-FAR, -FAR), b=PointCm(FAR, FAR), c=PointCm(-FAR, FAR), d=PointCm(FAR, -FAR + 1))
@given(a=anywhere, b=anywhere, c=anywhere, d=anywhere)
def test_a_crossing_equals_its_twin(kind, a, b, c, d):
    assert kind.crossing(a, b, c, d) == crossing(a, b, c, d)


@KINDS
@settings(max_examples=100)
@given(
    st.lists(st.one_of(crowded, anywhere), min_size=1, max_size=9),
    st.sampled_from(sorted(PLANAR)),
    st.tuples(crowded, crowded, crowded, crowded),
    st.integers(-1, 9),
)
def test_the_table_of_places_equals_its_twin(kind, around, rule, spots, came):
    here, goal, entered, crossed = spots
    table = kind(10.0, 16)
    for node, place in enumerate(around):
        table.renew(node, place, 1.0)
    table.renew(99, PointCm(1, 1), -9.5)  # has lapsed
    result = dict(enumerate(around))
    nearest = min(((squared(place, goal), node) for node, place in result.items()), default=(0, 0))
    expected = nearest[1] if nearest[0] < squared(here, goal) else None
    assert table.nearer(here, goal, 1.0) == expected
    table.planarise(here, 1.0, rule == "rng")
    edges_here = PLANAR[rule](here, result)
    assert sorted(table.edges()) == sorted(edges_here)
    after = came if came in edges_here else None
    hop = next_edge(here, edges_here, result, goal, after)
    assert table.next_edge(here, goal, after) == hop
    if hop is not None:
        assert table.change_face(here, goal, entered, crossed, hop) == walk_on(
            here, edges_here, result, (goal, entered, crossed), hop
        )


@KINDS
@given(
    st.lists(crowded, max_size=4),
    st.tuples(crowded, crowded, st.none() | crowded),
    st.integers(0, 5),
    st.integers(0, 4),
)
def test_the_choice_is_that_of_greedy_forwarding(kind, around, spots, destination, radius):
    here, goal, entered = spots
    table = kind(10.0, 16)
    for node, place in enumerate(around):
        table.renew(node, place, 1.0)
    table.renew(5, goal, -9.5)  # has lapsed
    expected = table.nearer(here, goal, 1.0)
    if destination < len(around):
        expected = destination
    elif radius and squared(here, goal) <= radius**2:
        expected = TAKEN
    elif entered is not None and squared(here, goal) >= squared(entered, goal):
        expected = AROUND
    elif expected is None:
        expected = STUCK
    assert table.choose(destination, here, goal, radius, entered, 1.0) == expected


@KINDS
@example(x=float("nan"), y=0.005)
@example(x=float("inf"), y=-83886.075)
@example(x=0.015, y=-0.025)  # halves go to the even one
@given(x=st.floats(), y=st.floats(-1e5, 1e5))
def test_a_position_is_told_in_the_nearest_centimetres(kind, x, y):
    def nearest(metres):
        return 0 if isnan(metres) else round(min(max(100 * metres, -FAR), FAR))

    result = kind.rounded(Position(x, y), PointCm, FAR)
    assert type(result) is PointCm
    assert result == (nearest(x), nearest(y))


def test_what_is_no_position_is_not_told():
    for wrong in (
        (5, PointCm, FAR),
        ((1.0,), PointCm, FAR),
        (("a", 2.0), PointCm, FAR),
        ((1.0, 2.0), dict, FAR),
        (),
    ):
        with pytest.raises(TypeError):
            Places.rounded(*wrong)


def walk_on(here, edges_here, result, spots, hop):
    goal, entered, crossed = spots
    changed = None
    for _ in edges_here:
        cut = crossing(here, result[hop], entered, goal)
        if cut is None or squared(cut, goal) >= squared(crossed, goal):
            break
        hop, crossed, changed = next_edge(here, edges_here, result, result[hop], hop), cut, cut
    return hop, changed


@KINDS
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=30))
def test_places_are_kept_as_leases_are(kind, history):
    table, twin, now = kind(3.0, 4), Leases(3.0, 4), 0.0
    for node, wait, heard in history:
        now += wait
        if heard:
            table.renew(node, PointCm(node, wait), now)
            twin.renew(node, (node, wait), now)
        else:
            table.discard(node)
            twin.discard(node)
        table.sweep(now - 1)
        twin.sweep(now - 1)
        assert len(table) == len(twin)
        assert table.nodes(now) == [key for key, _ in twin.items(now)]
        for other in range(6):
            assert table.get(other, now) == twin.get(other, now)
            assert table.has(other, now) == (twin.get(other, now) is not None)


def test_what_is_no_place_is_refused():
    table = Places(3.0, 4)
    for wrong in (5, (1,), (1, 2, 3), ("a", 2), (2**70, 1), [1, 2]):
        with pytest.raises((TypeError, OverflowError)):
            table.renew(1, wrong, 0.0)
    with pytest.raises(TypeError):
        table.renew(1, PointCm(1, 2))
    assert len(table) == 0


def test_the_right_hand_rule_goes_counter_clockwise_and_back_at_last():
    here = PointCm(0, 0)
    around = {1: PointCm(10, 0), 2: PointCm(0, 10), 3: PointCm(-10, 0), 4: PointCm(0, -10)}
    for came, goes in ((1, 2), (2, 3), (3, 4), (4, 1)):
        assert next_edge(here, around, around, around[came], came) == goes
    assert next_edge(here, [1], around, around[1], 1) == 1
    assert next_edge(here, around, around, PointCm(10, 5), None) == 2
    assert next_edge(here, [], {}, PointCm(10, 5), None) is None


def test_distances_are_squares_of_centimetres():
    assert squared(PointCm(0, 0), PointCm(300, 400)) == 500**2
