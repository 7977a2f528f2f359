"""Retransmissions in runs: order, routes and the window."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.cbr.raft.messages import InterestPeriod, Subscribe
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.publisher.retransmissions import Retransmissions
from roamcast.routing.cbr.raft.xcast import Xcast

WINDOW = 4


class Clock:
    """A host that has a time and timers, and nothing else."""

    def __init__(self):
        self.time, self.timers = 0.0, []

    def now(self):
        return self.time

    def call_later(self, delay, call, *arguments):
        timer = Alarm(self.time + delay, call, arguments)
        self.timers.append(timer)
        return timer

    def run(self, until):
        while due := sorted((t for t in self.timers if t.at <= until), key=lambda t: t.at)[:1]:
            self.timers.remove(due[0])
            self.time = max(self.time, due[0].at)
            due[0].active = False
            due[0].call(*due[0].arguments)
        self.time = until


class Alarm:
    """A timer."""

    def __init__(self, at, call, arguments):
        self.at, self.call, self.arguments, self.active = at, call, arguments, True


def queue(has_route=lambda node: True):
    clock, sent = Clock(), []
    held = Retransmissions(clock, WINDOW, 1.0, lambda number, nodes: sent.append((number, nodes)), has_route)
    return clock, held, sent


def test_events_for_the_subscribers_of_the_oldest_follow_each_other():
    clock, held, sent = queue()
    for number in range(12):
        held.enqueue(number, number % 3)
    clock.run(0.0)
    assert [number for number, _ in sent] == [0, 3, 6, 9]
    for number in (0, 3, 6, 9):
        held.acknowledge(number, 0)
    clock.run(0.1)
    assert [number for number, _ in sent][4:] == [1, 4, 7, 10]


def test_subscribers_without_a_route_wait_until_they_have_one():
    routed = {1}
    clock, held, sent = queue(routed.__contains__)
    held.enqueue(5, 0)
    held.enqueue(5, 1)
    clock.run(0.0)
    assert sent == [(5, [1])]
    routed.add(0)
    clock.run(3.0)
    assert sent == [(5, [1]), (5, [0])]


def test_if_nobody_has_a_route_all_are_sent():
    clock, held, sent = queue(lambda node: False)
    held.enqueue(5, 0)
    clock.run(0.0)
    assert sent == [(5, [0])]


@given(st.sets(st.tuples(st.integers(0, 15), st.integers(0, 4)), max_size=30), st.sets(st.integers(0, 4)))
def test_all_that_is_asked_for_is_sent_once_and_never_more_than_a_window_at_a_time(asked, routed):
    clock, held, sent = queue(routed.__contains__)
    for number, node in sorted(asked):
        held.enqueue(number, node)
    done = 0
    for step in range(200):
        clock.run(0.01 * step)
        assert len({number for number, _ in sent[done:]}) <= WINDOW
        new, done = sent[done:], len(sent)
        for number, nodes in new:
            for node in nodes:
                held.acknowledge(number, node)
    clock.run(60.0)
    assert sorted((number, node) for number, nodes in sent for node in nodes) == sorted(asked)


class Routes:
    """Unicast routing by given next hops, where given neighbours are as near."""

    def __init__(self, hops, near):
        self.next_hop = hops.get
        self.near = near

    def suspects(self, neighbour):
        return False

    def led_by(self, neighbour, destinations):
        return {each for each in destinations if neighbour == each or (neighbour, each) in self.near}


nodes = st.integers(1, 6)


@given(st.dictionaries(st.integers(1, 12), nodes, min_size=1), st.sets(st.tuples(nodes, st.integers(1, 12))))
def test_shared_hops_reach_everyone_by_a_known_way_and_are_never_more(hops, near):
    alone = Xcast(None, RaftCbrParameters(share_hops=False), Routes(hops, near))
    shared = Xcast(None, RaftCbrParameters(), Routes(hops, near))
    before, _ = alone._by_next_hop(list(hops), (0,), lambda node: node)
    after, left = shared._by_next_hop(list(hops), (0,), lambda node: node)
    assert not left and sorted(node for share in after.values() for node in share) == sorted(hops)
    assert len(after) <= len(before) and set(after) <= set(before)
    assert all(
        hops[node] == hop or hop == node or (hop, node) in near
        for hop, share in after.items()
        for node in share
    )


def test_a_wait_for_a_route_lies_between_a_subscription_and_its_periods():
    message = Subscribe(1, 0, 1, -1, 0, 0, (InterestPeriod(None, 5, 0), InterestPeriod(None, 9, 3)), -1, 20)
    older = message.grow_older(100)
    assert [period[1:] for period in older.periods] == [(105, 0), (109, 103)]
    assert older.covered == 120
