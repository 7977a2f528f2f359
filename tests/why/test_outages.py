"""When nodes were out of order, and what is left of their contacts then."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.facts.contacts import Contacts
from roamcast.why.proofs.outages import NodeOutage, OutageIndex, describe

moments = st.integers(0, 20).map(float)


@st.composite
def histories(draw):
    """Rows of states of three nodes in order of time; nodes 0 and 1 fail for sure, a router tells its own."""
    sure = [(draw(moments), node, "up", 0.0) for node in (0, 1)]
    names, values = st.sampled_from(["up", "radio", "principal"]), st.sampled_from([0.0, 1.0])
    more = draw(st.lists(st.tuples(moments, st.integers(0, 2), names, values), max_size=8))
    return sorted([*sure, *more], key=lambda row: row[0])


def works(rows, node, time):
    values = {name: value for when, whose, name, value in rows if when <= time and whose == node}
    return values.get("up", 1.0) > 0 and values.get("radio", 1.0) > 0


@st.composite
def meetings(draw):
    rows = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        ends = sorted(draw(st.sets(moments, min_size=2, max_size=4)))
        rows += [(a, b, start, end) for start, end in list(pairwise(ends))[::2]]
    columns = list(zip(*rows, strict=True))
    return Contacts(*(np.array(c, t) for c, t in zip(columns, [int, int, float, float], strict=True)))


@given(histories(), meetings())
def test_two_meet_just_while_they_are_in_range_and_both_in_order(rows, contacts):
    outages = OutageIndex(rows)
    left = outages.cut(contacts)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for time in np.arange(0.5, 20, 0.5):
            if time % 1 == 0:
                continue  # on a border both answers are right
            near = any(start <= time <= end for start, end in contacts.of(a, b))
            meet = near and works(rows, a, time) and works(rows, b, time)
            assert any(start <= time <= end for start, end in left.of(a, b)) == meet
    assert all(left.start <= left.end)
    assert sorted(zip(left.a, left.b, left.start, strict=True)) == list(
        zip(left.a, left.b, left.start, strict=True)
    )


@given(histories(), moments, moments)
def test_a_node_is_out_of_order_throughout_a_time_or_at_some_moment_of_it(rows, one, other):
    start, end = min(one, other) + 0.25, max(one, other) + 0.75
    outages = OutageIndex(rows)
    for node in range(3):
        down = [not works(rows, node, time) for time in np.arange(start, end + 0.1, 0.5)]
        assert outages.throughout(node, start, end) == all(down)
        assert (outages.during(node, start, end) is not None) == any(down)


def test_only_a_node_that_returns_anew_or_never_has_forgotten():
    slept = [(10.0, 1, "up", 0.0), (15.0, 1, "up", 1.0)]
    crashed = [*slept, (15.0, 1, "incarnation", 1.0)]
    assert OutageIndex(slept).forgot(1, 5.0, 50.0) is None
    assert OutageIndex(crashed).forgot(1, 5.0, 50.0) == 10.0
    assert OutageIndex(crashed).forgot(1, 12.0, 50.0) is None
    assert OutageIndex(slept[:1]).forgot(1, 5.0, 50.0) == 10.0
    assert OutageIndex([(10.0, 1, "radio", 0.0)]).forgot(1, 5.0, 50.0) is None


def test_a_crash_is_one_outage_whatever_the_radio_does_meanwhile():
    crashed = [(10.0, 1, "up", 0.0), (15.0, 1, "up", 1.0), (15.0, 1, "incarnation", 1.0)]
    switched = [(8.0, 1, "radio", 0.0), (12.0, 1, "radio", 1.0), (13.0, 1, "radio", 0.0)]
    outages = OutageIndex(sorted([*crashed, *switched], key=lambda row: row[0]))
    assert outages.forgot(1, 9.0, 50.0) == 10.0
    assert outages.forgot(1, 11.0, 50.0) is None
    assert outages.of(1) == [(8.0, 10.0, False), (10.0, 15.0, True), (15.0, inf, False)]


@pytest.mark.parametrize(
    ("outage", "result"),
    [
        (NodeOutage(0.0, 5.0, True), "node 3 was absent from t=0.0 to t=5.0"),
        (NodeOutage(2.0, inf, True), "node 3 was down from t=2.0 to the end of the run"),
        (NodeOutage(2.0, 4.0, False), "node 3 had its radio off from t=2.0 to t=4.0"),
    ],
)
def test_an_outage_in_a_sentence(outage, result):
    assert describe(3, outage) == result
