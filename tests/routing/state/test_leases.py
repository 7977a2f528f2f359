"""Leases against a list of deadlines, with leases of equal and of unequal length."""

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.state.leases import Leases
from roamcast.routing.state.plain_leases import PlainLeases

DURATION, CAPACITY = 5.0, 4

KINDS = pytest.mark.parametrize("kind", [Leases, PlainLeases])
KEYS = st.integers(0, 5)
# Few lengths and whole seconds, so that deadlines coincide; and such that a new lease lapses before an old.
LENGTHS = st.sampled_from([None, 0.0, 1.0, 2.0, 5.0, 9.0, 30.0])
LATER = st.sampled_from([0.0, 0.0, 1.0, 2.0, 6.0]) | st.floats(0, 4)
STEPS = st.one_of(
    st.tuples(st.just("renew"), KEYS, LENGTHS, LATER),
    st.tuples(st.just("renew"), KEYS, LENGTHS, LATER),
    st.tuples(st.just("begin"), KEYS, st.none(), LATER),
    st.tuples(st.just("sweep"), KEYS, st.none(), LATER),
    st.tuples(st.just("discard"), KEYS, st.none(), LATER),
)


class Twin:
    """A list of (key, value, deadline) in order of renewal."""

    def __init__(self):
        self.rows = []

    def renew(self, key, value, now, duration):
        news = all(row[0] != key or row[2] <= now for row in self.rows)
        self.discard(key)
        self.rows.append((key, value, now + (DURATION if duration is None else duration)))
        if len(self.rows) > CAPACITY:
            self.rows.remove(min(self.rows, key=lambda row: row[2]))
        return news

    def begin(self, key, value, now):
        if any(row[0] == key and row[2] > now for row in self.rows):
            return False
        return self.renew(key, value, now, None)

    def sweep(self, now):
        self.rows = [row for row in self.rows if row[2] > now]

    def discard(self, key):
        self.rows = [row for row in self.rows if row[0] != key]

    def first(self):
        soonest = min(self.rows, key=lambda row: row[2], default=None)
        return None if soonest is None else (soonest[0], soonest[2])


def agree(kind, steps):
    """Play `steps` on leases and twin; gives whether a lease ever lapses before one renewed earlier."""
    leases, twin, now, overtaken = kind(DURATION, CAPACITY), Twin(), 0.0, False
    for value, (what, key, duration, later) in enumerate(steps):
        now += later
        if what == "renew":
            assert leases.renew(key, value, now, duration) == twin.renew(key, value, now, duration)
        elif what == "begin":
            assert leases.begin(key, value, now) == twin.begin(key, value, now)
        elif what == "sweep":
            leases.sweep(now)
            twin.sweep(now)
        else:
            leases.discard(key)
            twin.discard(key)
        alive = [(k, v) for k, v, deadline in twin.rows if deadline > now]
        assert list(leases.items(now)) == alive
        assert list(leases.lapsed(now)) == [(k, deadline) for k, _, deadline in twin.rows if deadline <= now]
        assert [leases.get(k, now) for k in range(6)] == [dict(alive).get(k) for k in range(6)]
        assert [k in leases for k in range(6)] == [any(row[0] == k for row in twin.rows) for k in range(6)]
        assert leases.first() == twin.first()
        assert len(leases) == len(twin.rows) <= CAPACITY
        deadlines = [row[2] for row in twin.rows]
        overtaken = overtaken or deadlines != sorted(deadlines)
    return overtaken


@KINDS
@given(st.lists(STEPS.map(lambda step: (step[0], step[1], None, step[3])), max_size=60))
def test_leases_of_equal_length_agree_with_a_list_of_deadlines(kind, steps):
    assert not agree(kind, steps)


@KINDS
@given(st.lists(STEPS, max_size=3), st.lists(STEPS, max_size=60))
def test_leases_of_unequal_length_agree_with_a_list_of_deadlines(kind, before, after):
    assert agree(kind, [*before, ("renew", 0, 30.0, 0.0), ("renew", 1, 1.0, 0.0), *after])


@KINDS
def test_a_key_renewed_ever_again_costs_no_memory(kind):
    leases = kind(DURATION, CAPACITY)
    leases.renew("far", 0, 0.0, 1000.0)
    for n in range(1000):
        leases.renew("near", n, n / 1000)
    assert len(leases._heap) < 50


@KINDS
def test_a_full_table_gives_up_what_would_lapse_first(kind):
    leases = kind(10.0, 2)
    leases.renew("long", 1, 0.0, 100.0)
    leases.renew("short", 2, 1.0, 3.0)
    leases.renew("usual", 3, 2.0)
    assert [key for key, _ in leases.items(2.0)] == ["long", "usual"]


@KINDS
def test_the_keys_are_all_that_are_held(kind):
    leases = kind(DURATION, CAPACITY)
    leases.renew("old", 0, 0.0)
    leases.renew("new", 1, 6.0)
    assert list(leases) == list(leases.keys()) == ["old", "new"]
    assert leases.values(6.0) == [1]


def test_compiled_leases_that_hold_themselves_are_collected():
    class Held:
        pass

    held = Held()
    held.leases = Leases(DURATION, CAPACITY)
    held.leases.renew("self", held, 0.0)
    gone = weakref.ref(held)
    del held
    gc.collect()
    assert gone() is None
