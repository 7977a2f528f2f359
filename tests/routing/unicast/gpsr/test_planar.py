"""The planar graphs of perimeter mode: no two edges cross, all stays connected, the rules are exact."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from unit_disks import edges, parts, scatter

from roamcast.routing.router import Position
from roamcast.routing.unicast.gpsr.messages import Place, place_of
from roamcast.routing.unicast.gpsr.planar import PLANAR, crossing, gabriel, next_edge, relative, squared


def planarise(places, rule):
    told = [place_of(Position(*place)) for place in places]
    joined = edges(places)
    kept = set()
    for node, here in enumerate(told):
        around = {b if a == node else a: told[b if a == node else a] for a, b in joined if node in (a, b)}
        kept |= {frozenset((node, other)) for other in rule(here, around)}
    return told, kept


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(PLANAR)))
def test_a_planarised_network_is_planar_and_connected(seed, rule):
    places = scatter(seed)
    told, kept = planarise(places, PLANAR[rule])
    assert len(kept) < len(edges(places))
    for one, other in combinations(kept, 2):
        (a, b), (c, d) = sorted(one), sorted(other)
        assert len({a, b, c, d}) < 4 or crossing(told[a], told[b], told[c], told[d]) is None
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
points = st.builds(Place, coordinates, coordinates)


@given(points, points, points, points)
def test_a_crossing_is_the_same_from_both_ends_of_an_edge_and_lies_between(a, b, c, d):
    found = crossing(a, b, c, d)
    assert found == crossing(b, a, c, d)
    if found is not None:
        for one, other in ((a, b), (c, d)):
            assert min(one.x, other.x) <= found.x <= max(one.x, other.x)
            assert min(one.y, other.y) <= found.y <= max(one.y, other.y)


def test_the_right_hand_rule_goes_counter_clockwise_and_back_at_last():
    here = Place(0, 0)
    around = {1: Place(10, 0), 2: Place(0, 10), 3: Place(-10, 0), 4: Place(0, -10)}
    for came, goes in ((1, 2), (2, 3), (3, 4), (4, 1)):
        assert next_edge(here, around, around, around[came], came) == goes
    assert next_edge(here, [1], around, around[1], 1) == 1
    assert next_edge(here, around, around, Place(10, 5), None) == 2
    assert next_edge(here, [], {}, Place(10, 5), None) is None


def test_distances_are_squares_of_centimetres():
    assert squared(Place(0, 0), Place(300, 400)) == 500**2
