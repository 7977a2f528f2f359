"""Route jobs against a twin that is figure 3 read out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from roamcast.routing.tpsr.accepted import AcceptedRecipients
from roamcast.routing.tpsr.jobs import create_jobs
from roamcast.routing.tpsr.parameters import TpsrParameters

ME = 0
NODES = st.integers(0, 6)


def figure_3(recipients, subscription_table):
    """The print: a map from the next hop to its delayIndex and its recipients."""
    route_jobs = {}
    delay_index = 0
    for r in recipients:
        if r != ME:
            next_hop = subscription_table[r]
            if next_hop not in route_jobs:
                route_jobs[next_hop] = (delay_index, set())
                delay_index = delay_index + 1
            route_jobs[next_hop][1].add(r)
    return route_jobs


@given(st.lists(NODES, unique=True), st.lists(st.integers(1, 3), min_size=7, max_size=7))
def test_jobs_are_made_as_figure_3_makes_them(recipients, hops):
    table = dict(enumerate(hops))
    jobs, stranded = create_jobs(recipients, ME, table.get)
    assert {job.addressee: (job.delay_index, set(job.recipients)) for job in jobs} == figure_3(
        recipients, table
    )
    assert [job.delay_index for job in jobs] == list(range(len(jobs)))
    assert stranded == []


@given(st.lists(NODES, unique=True), st.dictionaries(NODES, st.integers(1, 3)))
def test_every_recipient_is_in_one_job_or_stranded(recipients, table):
    jobs, stranded = create_jobs(recipients, ME, table.get)
    served = [r for job in jobs for r in job.recipients]
    assert sorted([*served, *stranded]) == sorted(r for r in recipients if r != ME)
    assert all(r not in table for r in stranded)


STEPS = st.lists(st.tuples(st.integers(1, 4), st.sets(NODES, min_size=1), NODES), max_size=20)


@settings(max_examples=40)
@given(STEPS, st.integers(1, 9))
def test_what_is_taken_is_bounded_and_told_apart(steps, capacity):
    taken, twin = AcceptedRecipients(capacity), AcceptedRecipients(10**6)
    for publication, recipients, sender in steps:
        fresh, back = taken.accept(publication, recipients, sender)
        assert fresh | back <= recipients and not fresh & back
        assert fresh >= twin.accept(publication, recipients, sender)[0]
        assert taken.footprint().entries <= capacity


def test_a_recipient_that_comes_from_another_sender_goes_in_a_circle():
    taken = AcceptedRecipients(100)
    assert taken.accept(1, {5, 6}, 3) == ({5, 6}, set())
    assert taken.accept(1, {5}, 3) == (set(), set())
    assert taken.accept(1, {5, 7}, 4) == ({7}, {5})
    assert taken.sender(1, 5) == 3 and taken.sender(1, 9) is None


def test_a_subscription_must_outlast_two_renewals():
    with pytest.raises(ValidationError, match="exceed two renewal intervals"):
        TpsrParameters(renew=100.0, expire=150.0)
