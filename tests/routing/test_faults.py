"""Faults as data."""

import math
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.faults import Fault, FaultKind, Outage, absent_nodes, draw_outages, faults_of

outages = st.lists(
    st.builds(
        lambda start, length: Outage(start, start + length),
        st.integers(0, 50),
        st.one_of(st.integers(0, 20), st.just(math.inf)),
    ),
    max_size=8,
)


@given(outages, st.sampled_from([FaultKind.CRASH, FaultKind.SLEEP, FaultKind.RADIO_OFF]))
def test_a_node_is_out_of_order_exactly_while_an_outage_lasts(given_outages, what):
    faults = list(faults_of(3, {what: given_outages}))
    assert faults == sorted(faults, key=lambda fault: fault.time)
    out = 3 in absent_nodes(faults)
    for moment in range(120):
        for fault in faults:
            if fault.time == moment:
                assert out is (fault.kind is not what)  # they alternate
                out = fault.kind is what
        assert out is any(start <= moment < end for start, end in given_outages)


@given(outages, outages)
def test_a_node_is_down_just_while_a_crash_or_a_sleep_lasts_and_crashes_when_each_crash_begins(
    crashes, sleeps
):
    faults = sorted(
        faults_of(3, {FaultKind.CRASH: crashes, FaultKind.SLEEP: sleeps}),
        key=lambda fault: (fault.time, fault.node, fault.kind.value),
    )
    up, asleep = 3 not in absent_nodes(faults), False
    for moment in range(120):
        for fault in faults:
            if fault.time == moment:
                if fault.kind is FaultKind.CRASH and up:
                    up = asleep = False
                elif fault.kind in (FaultKind.START, FaultKind.ARRIVE):
                    up = True
                elif fault.kind is FaultKind.SLEEP and up:
                    asleep = True
                elif fault.kind is FaultKind.WAKE:
                    asleep = False
        assert (up and not asleep) is not any(start <= moment < end for start, end in [*crashes, *sleeps])
        assert not (up and any(start <= moment < end for start, end in crashes))


def test_drawn_outages_have_the_means_that_were_asked_for():
    drawn = list(draw_outages(Random(1), 60.0, 20.0, after=100.0, until=100_000.0))
    assert drawn[0].start >= 100
    assert drawn[-1].start < 100_000
    ups = [later.start - earlier.end for earlier, later in pairwise(drawn)]
    assert 55 < sum(ups) / len(ups) < 65
    assert 18 < sum(end - start for start, end in drawn) / len(drawn) < 22


def test_even_outages_come_at_even_intervals():
    drawn = draw_outages(Random(1), 60.0, 20.0, after=0.0, until=200.0, even=True)
    assert list(drawn) == [(60, 80), (140, 160)]


def test_who_never_arrives_is_absent_all_the_same():
    assert list(faults_of(1, {FaultKind.CRASH: [Outage(0, math.inf)]})) == [
        Fault(math.inf, 1, FaultKind.ARRIVE)
    ]
