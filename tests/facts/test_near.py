"""Pairs of legs that may come within range: the grid finds all that a comparison of all pairs finds."""

from itertools import combinations
from math import hypot, inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.contacts import find_contacts
from roamcast.facts.near import find_near_legs
from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks

PLACE = st.tuples(*[st.floats(-300, 900, allow_subnormal=False)] * 2) | st.sampled_from(
    [(0.0, 0.0), (50.0, 0.0), (400.0, 0.0), (5e5, -5e5)]
)
LASTING = st.sampled_from([0.0, 0.5, 10.0, 10.0, 60.0, 300.0])
WALK = st.lists(st.tuples(LASTING, PLACE), min_size=1, max_size=5)
RANGE = st.sampled_from([1e-3, 1.0, 20.0, 50.0, 250.0, 5e6])


def tracks(walks):
    rows = []
    for node, walk in enumerate(walks):
        time, place = 0.0, walk[0][1]
        for lasting, there in walk:
            rows.append((node, time, time + lasting, *place, *there))
            time, place = time + lasting, there
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, TABLES["legs"], strict=True)]
    return Tracks(pa.Table.from_arrays(arrays, schema=TABLES["legs"]), len(walks))


def shares_time(of, one, two):
    return of.start[one] < of.end[two] and of.end[one] > of.start[two]


def nearest(of, one, two):
    """The least distance of two nodes on these legs: the foot of a perpendicular, or an end."""
    start, end = max(of.start[one], of.start[two]), min(of.end[one], of.end[two])
    at = [of.place0[leg] + (start - of.start[leg]) * of.velocity[leg] for leg in (one, two)]
    (x, y), (vx, vy) = at[0] - at[1], of.velocity[one] - of.velocity[two]
    square = vx * vx + vy * vy
    foot = -(x * vx + y * vy) / square if square else 0.0
    foot = min(max(foot, 0.0), end - start)
    return hypot(x + foot * vx, y + foot * vy)


@given(st.lists(WALK, min_size=1, max_size=7), RANGE)
def test_all_legs_that_come_within_range_are_found_once(walks, range):
    of = tracks(walks)
    found = list(zip(*(column.tolist() for column in find_near_legs(of, range)), strict=True))
    assert found == sorted(set(found))
    for one, two in found:
        assert of.node[one] < of.node[two] and shares_time(of, one, two)
    for one, two in combinations(np.arange(len(of.node)).tolist(), 2):
        if of.node[one] != of.node[two] and shares_time(of, one, two):
            assert (one, two) in found or nearest(of, one, two) > range


def test_few_pairs_are_found_besides_those_within_range():
    """The work must not grow with the square of the nodes: a thousand walkers, of whom each meets some."""
    random = np.random.default_rng(5)
    places = random.uniform(0, 4000, (1000, 3, 2)).tolist()
    of = tracks([[(0.0, a), (100.0, b), (40.0, b), (60.0, c)] for a, b, c in places])
    one, _ = find_near_legs(of, 100.0)
    met = find_contacts(of, 100.0, edge=0.0)
    assert len(met.a) < len(one) < 12 * len(met.a) and len(one) < 0.1 * 1000**2


def test_a_leg_of_no_length_and_nobody_at_all():
    nobody = Tracks(TABLES["legs"].empty_table(), 0)
    assert [len(column) for column in find_near_legs(nobody, 10.0)] == [0, 0]
    still = tracks([[(10.0, (0.0, 0.0))], [(10.0, (0.0, 10.0))], [(10.0, (0.0, 10.1))]])
    contacts = find_contacts(still, 10.0, edge=0.0)
    assert list(zip(contacts.a.tolist(), contacts.b.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert contacts.end.max() < inf


@pytest.mark.parametrize("side", [2_000, 8_000])
def test_static_nodes_give_the_pairs_within_range_alone(side):
    random = np.random.default_rng(side)
    places = random.uniform(0, side, (300, 2))
    of = tracks([[(30.0, tuple(place))] for place in places.tolist()])
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    near = {(a, b) for a, b in zip(*np.nonzero(distance <= 250), strict=True) if a < b}
    found = set(zip(*(column.tolist() for column in find_near_legs(of, 250.0)), strict=True))
    assert found == near
