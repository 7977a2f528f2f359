"""Reachable pairs: the sweep backwards in time agrees with a search forwards, and with `why`."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.facts.contacts import Contacts
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.metric_input import MetricInput
from roamcast.metrics.pairs import pair_up
from roamcast.metrics.reach import count_reachable
from roamcast.metrics.run_metrics import metric_input
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.why.trail.trail import Trail

NODES = 5
links = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(0, 9), st.integers(0, 4)),
    max_size=12,
)
pairs = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(0, 12)), max_size=8
)


def search(contacts, source, target, time):
    """Whether information spreads from one node to the other, contact by contact, until nothing changes."""
    known = {source: float(time)}
    changed = True
    while changed:
        changed = False
        for a, b, start, end in contacts:
            for one, other in ((a, b), (b, a)):
                if one in known and known[one] <= end:
                    when = max(known[one], start)
                    if when < known.get(other, np.inf):
                        known[other] = when
                        changed = True
    return target in known


@given(links, pairs)
@example([(0, 1, 5, 4), (0, 1, 0, 5), (1, 2, 2, 0)], [(0, 2, 1)])
def test_pairs_counted_backwards_in_time_are_those_found_forwards(links, pairs):
    made = sorted({(min(a, b), max(a, b), s, s + d) for a, b, s, d in links if a != b})
    columns = [np.array(column) for column in zip(*made, strict=True)] or [np.zeros(0, int)] * 4
    contacts = Contacts(columns[0], columns[1], columns[2].astype(float), columns[3].astype(float))
    asked = [np.array(column) for column in zip(*pairs, strict=True)] or [np.zeros(0, int)] * 3
    found = count_reachable(contacts, NODES, asked[0], asked[1], asked[2].astype(float))
    assert found == sum(search(made, *pair) for pair in pairs)


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory):
    """A run in which the shop is cut off for half of the time."""
    world = load(locate("shopping"), ["duration='560 s'", "warmup='400 s'"])
    return simulate(world, "flooding", 6, folder=tmp_path_factory.mktemp("facts"))


def test_the_metric_counts_the_pairs_to_which_why_finds_a_path(cut_off):
    trail = Trail(cut_off)
    of = metric_input(cut_off)
    late = [pair for pair in trail.expected if trail.published[pair[0]] >= cut_off.run.warmup]
    found = [trail.reach.meets(p >> 32, n, trail.published[p], cut_off.run.duration) for p, n in late]
    assert of.reachable == sum(found) and 0 < sum(found) < len(found) == of.pairs.expected
    assert of.reachable >= len(of.pairs.delays)


def test_a_delivery_after_the_deadline_counts_as_lost_and_not_as_false(cut_off):
    whole = metric_input(cut_off)
    middle = float(np.median(whole.pairs.delays))
    soon = MetricInput(whole.source, whole.setting, MetricConstants(deadline=middle))
    assert soon.pairs.delays.tolist() == whole.pairs.delays[whole.pairs.delays <= middle].tolist()
    assert soon.pairs.unexpected == whole.pairs.unexpected and soon.pairs.expected == whole.pairs.expected


def test_a_delivery_at_the_deadline_is_in_time():
    published = (np.array([1 << 32, 2 << 32]), np.array([10.0, 20.0]))
    expected = (np.array([1 << 32, 2 << 32]), np.array([3, 3]))
    delivered = (np.array([1 << 32, 2 << 32]), np.array([3, 3]), np.array([12.0, 22.5]))
    assert pair_up(published, expected, delivered, 0.0, 2.0).delays.tolist() == [2.0]
    assert len(pair_up(published, expected, delivered, 0.0).delays) == 2
