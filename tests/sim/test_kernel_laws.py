"""The kernel against its slow twin: who hears, at what power, when, and who loses what to whom."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast import _kernel
from roamcast.scenario.traces.movement import Legs

from .twin import MAC, RADIO, RANGE, SENSE, Sent, outcomes, received_power


class Note:
    category = 0
    size = 512
    publication_id = -1


class Listener:
    def __init__(self, host):
        self.host = host
        self.heard = []

    def receive(self, message, sender, signal):
        self.heard.append((self.host.now(), sender, signal))

    def overhear(self, message, sender, to, signal): ...

    def link_failed(self, message, to): ...


places = st.tuples(st.floats(0, 1200), st.floats(0, 1200))
worlds = st.lists(places, min_size=2, max_size=12)
# Times within a few frames of each other, so that signals overlap in every way.
talks = st.lists(st.tuples(st.integers(0, 11), st.floats(0, 0.03)), min_size=1, max_size=20)


def play(world, nodes, talk, until=2.0):
    world.start()
    hosts = [_kernel.Host(world, node) for node in range(nodes)]
    listeners = [Listener(host) for host in hosts]
    for node, listener in enumerate(listeners):
        world.attach(node, listener)
    for node, time in talk:
        hosts[node % nodes].call_later(time, hosts[node % nodes].broadcast, Note())
    world.run_until(until)
    return listeners


def sent_by(world):
    columns = world.transmissions()
    rows = zip(columns["time"], columns["airtime"], columns["node"], strict=True)
    return sorted(Sent(round(t * 1e12), round(a * 1e12), int(n)) for t, a, n in rows)


def check_against_twin(world, listeners, position, nodes):
    expected = outcomes(sent_by(world), position, nodes)
    counts = Counter(o.outcome for o in expected)
    counters = world.counters()
    assert {f: counters[f] for f in ("received", "collided", "captured", "weak", "deaf")} == {
        f: counts[f] for f in ("received", "collided", "captured", "weak", "deaf")
    }
    # Every frame is accounted for at every node in range, once.
    assert counters["sensed"] == len(expected)
    airtime = {s.start: s.airtime for s in sent_by(world)}
    heard = sorted((h[1], n, h[0], h[2]) for n, listener in enumerate(listeners) for h in listener.heard)
    should = sorted(
        (o.sender, o.node, (o.arrives + airtime[o.sent_at] + 25_000_000) * 1e-12, o.power)
        for o in expected
        if o.outcome == "received"
    )
    assert [h[:2] for h in heard] == [s[:2] for s in should]
    for one, other in zip(heard, should, strict=True):
        assert one[2] == pytest.approx(other[2], abs=3e-12)
        assert one[3] == pytest.approx(other[3], rel=1e-9)


@settings(max_examples=300, deadline=None)
@given(worlds, talks, st.integers(0, 2**32))
def test_static_worlds_hear_what_the_twin_hears(points, talk, seed):
    world = _kernel.World(RADIO, MAC, seed)
    for x, y in points:
        world.add_static(x, y)
    listeners = play(world, len(points), talk)
    check_against_twin(world, listeners, lambda node, _: points[node], len(points))
    world.close()


def walkers(nodes, seed, speed=30.0):
    world = _kernel.World(RADIO, MAC, seed)
    for _ in range(nodes):
        world.add_waypoint(0, 0, 1200, 1200, 1, speed, 2.0, True)
    return world


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 12), talks, st.integers(0, 2**32))
def test_moving_worlds_hear_what_the_twin_hears(nodes, talk, seed):
    legs = Legs(**walkers(nodes, seed).movement(60.0))
    world = walkers(nodes, seed)
    slow = [(node, time * 1000) for node, time in talk]  # spread over half a minute of walking
    listeners = play(world, nodes, slow, until=60.0)
    check_against_twin(world, listeners, lambda node, ps: legs.position(node, ps * 1e-12), nodes)
    world.close()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 60),
    st.integers(0, 2**32),
    # Long ones, after which nodes are in other cells, and short ones, during which surroundings are kept.
    st.lists(st.floats(0.1, 40) | st.floats(0.001, 0.5), min_size=1, max_size=12),
)
def test_the_grid_finds_exactly_those_in_range_however_they_move(nodes, seed, gaps):
    world = walkers(nodes, seed)
    world.start()
    now = 0.0
    for gap in gaps:
        now += gap
        world.run_until(now)
        flat = world.positions().tolist()
        points = list(zip(flat[::2], flat[1::2], strict=True))
        for source in range(nodes):
            receptions = world.receivers(source)
            assert receptions == sorted(receptions, key=lambda each: (each[1], each[0]))
            found = {node: power for node, _, power in receptions}
            distances = {n: math.dist(points[source], points[n]) for n in range(nodes) if n != source}
            assert found.keys() == {n for n, d in distances.items() if d <= SENSE}
            for node, power in found.items():
                assert abs(power) == pytest.approx(received_power(distances[node]), rel=1e-9)
                assert (power > 0) == (distances[node] <= RANGE)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10), st.integers(0, 2**32), st.lists(st.floats(0.01, 100), min_size=1, max_size=20))
def test_walkers_follow_the_legs_that_they_say_they_follow(nodes, seed, gaps):
    legs = Legs(**walkers(nodes, seed).movement(sum(gaps) + 1))
    world = walkers(nodes, seed)
    world.start()
    now = 0.0
    for gap in gaps:
        now += gap
        world.run_until(now)
        flat = world.positions().tolist()
        for node in range(nodes):
            assert math.dist(flat[2 * node : 2 * node + 2], legs.position(node, now)) < 1e-4
            assert 0 <= flat[2 * node] <= 1200
            assert 0 <= flat[2 * node + 1] <= 1200
