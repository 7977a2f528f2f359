"""Rules of a mesh's links: each is seen at work, and ends with its block."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.schema import EventType
from roamcast.routing.flooding import Flood, Flooding
from roamcast.routing.router import Category, Publication, Router
from roamcast.testing import LinkModel, Mesh, delay, duplicate, full_queue, lose, one_way, partition

News = EventType("news", {})


class Listener(Router):
    """Hears, and says nothing of its own accord."""

    def __init__(self, host):
        super().__init__(host)
        self.heard, self.failed = [], []

    def receive(self, message, sender, signal):
        self.heard.append((round(self.host.now(), 6), message.publication_id, sender))

    def link_failed(self, message, to):
        self.failed.append((message.publication_id, to))


def note(number):
    publication = Publication(9, number, News())
    return Flood(publication)


def numbers(mesh, node):
    return [id & 0xFFFFFF for _, id, _ in mesh.routers[node].heard]


def test_a_rule_ends_with_its_block():
    mesh = Mesh.line(2, Listener)
    with mesh.fault(lose(Flood, to=1)):
        mesh.hosts[0].broadcast(note(1))
        mesh.run(for_=1)
    mesh.hosts[0].broadcast(note(2))
    mesh.run(for_=1)
    assert numbers(mesh, 1) == [2]
    assert [(lost.node, lost.to) for lost in mesh.lost] == [(0, 1)]


def test_rules_choose_by_type_category_sender_and_receiver():
    mesh = Mesh.full(3, Listener)
    with mesh.fault(lose(Category.EVENT, from_=0, to=(1,)), lose(Category.ROUTING)):
        mesh.hosts[0].broadcast(note(1))
        mesh.hosts[2].broadcast(note(2))
        mesh.run(for_=1)
    assert (numbers(mesh, 0), numbers(mesh, 1), numbers(mesh, 2)) == ([2], [2], [1])


def test_a_share_is_lost_and_the_same_share_each_time():
    def story(seed):
        mesh = Mesh.line(2, Listener, seed=seed)
        with mesh.fault(lose(share=0.3)):
            for number in range(400):
                mesh.hosts[0].broadcast(note(number))
            mesh.run(for_=1)
        return numbers(mesh, 1)

    assert 230 < len(story(1)) < 330
    assert story(1) == story(1) != story(2)


def test_on_a_one_way_link_a_letter_arrives_though_its_sender_hears_of_failure():
    mesh = Mesh.line(2, Listener)
    with mesh.fault(one_way(0, 1)):
        mesh.hosts[0].send(note(1), 1)
        mesh.hosts[1].send(note(2), 0)
        mesh.run(for_=1)
    assert (numbers(mesh, 0), numbers(mesh, 1)) == ([], [1])
    assert [id & 0xFF for id, _ in mesh.routers[0].failed] == [1]
    assert [id & 0xFF for id, _ in mesh.routers[1].failed] == [2]


def test_losing_a_type_of_message_loses_no_acknowledgement_of_the_link():
    mesh = Mesh.line(2, Listener)
    with mesh.fault(lose(Flood, from_=1)):
        mesh.hosts[0].send(note(1), 1)
        mesh.run(for_=1)
    assert mesh.routers[0].failed == []


def test_messages_are_duplicated_and_overtake_each_other():
    mesh = Mesh.line(2, Listener, seed=3)
    with mesh.fault(duplicate(share=0.5), delay(jitter=0.5)):
        for number in range(100):
            mesh.hosts[0].broadcast(note(number))
        mesh.run(for_=1)
    heard = numbers(mesh, 1)
    assert 120 < len(heard) < 180
    assert set(heard) == set(range(100))
    assert heard != sorted(heard)


def test_what_finds_a_full_queue_never_leaves_and_is_told_as_lost():
    mesh = Mesh.full(3, Listener)
    with mesh.fault(full_queue(0)):
        mesh.hosts[0].broadcast(note(1))
        mesh.hosts[0].send(note(2), 1)
        mesh.hosts[1].broadcast(note(3))
        mesh.run(for_=1)
    assert (numbers(mesh, 1), numbers(mesh, 2)) == ([], [3])
    assert [(lost.node, lost.to) for lost in mesh.lost] == [(0, -1), (0, -1)]
    assert mesh.routers[0].failed == []


def test_sides_of_a_partition_do_not_hear_each_other():
    mesh = Mesh.full(5, Listener)
    with mesh.fault(partition({0, 1}, {2})):
        for node in range(5):
            mesh.hosts[node].broadcast(note(node))
        mesh.run(for_=1)
    assert [numbers(mesh, node) for node in range(5)] == [[1], [0], [], [4], [3]]


rules = st.lists(
    st.one_of(
        st.builds(lambda share: lose(share=share), st.floats(0, 1)),
        st.builds(lambda share: duplicate(share=share), st.floats(0, 1)),
        st.builds(lambda jitter: delay(jitter=jitter), st.floats(0, 2)),
        st.builds(one_way, st.integers(0, 2), st.integers(0, 2)),
        st.builds(full_queue, st.integers(0, 2)),
        st.builds(partition, st.sets(st.integers(0, 3))),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(rules, st.floats(0, 0.5), st.integers(0, 99))
def test_every_broadcast_is_heard_or_lost_at_everyone_in_range(chosen, loss, seed):
    mesh = Mesh.full(4, Listener, links=LinkModel(loss=loss), seed=seed)
    with mesh.fault(*chosen):
        for number in range(10):
            mesh.hosts[number % 4].broadcast(note(number))
        mesh.run(for_=9)
    heard = Counter((id, node) for node in range(4) for _, id, _ in mesh.routers[node].heard)
    lost = Counter((lost.message.publication_id, lost.to) for lost in mesh.lost)
    for number in range(10):
        id = note(number).publication_id
        for node in set(range(4)) - {number % 4}:
            accounts = (heard[id, node] > 0) + lost[id, node] + lost[id, -1]
            assert accounts == 1


def test_places_give_signals_a_meaning():
    mesh = Mesh.line(2, Listener)
    signals = []
    mesh.routers[1].receive = lambda message, sender, signal: signals.append(signal)
    mesh.hosts[0].broadcast(note(1))
    mesh.run(for_=1)
    mesh.place(0, 0, 0, vx=3)
    mesh.place(1, 0, 40)
    mesh.run(for_=10)
    mesh.hosts[0].broadcast(note(2))
    mesh.run(for_=1)
    assert math.isnan(mesh.hosts[1].distance(signals[0]))
    assert mesh.hosts[1].distance(signals[1]) == pytest.approx(50)
    assert mesh.hosts[0].position() == (33, 0)
    assert mesh.hosts[0].velocity() == (3, 0)


def test_a_node_that_was_not_placed_does_not_know_where_it_is():
    mesh = Mesh.line(2, Flooding)
    with pytest.raises(PermissionError):
        mesh.hosts[0].position()
    with pytest.raises(PermissionError):
        mesh.hosts[0].velocity()


def test_what_the_link_is_about_to_give_up_on_can_be_withdrawn():
    mesh = Mesh.line(3, Listener)
    mesh.kill(2)
    for number in (1, 2):
        mesh.hosts[1].send(note(number), 2)
    mesh.hosts[1].send(note(3), 0)
    assert [message.publication_id & 0xFF for message in mesh.hosts[1].withdraw(2)] == [1, 2]
    mesh.run(for_=1)
    assert mesh.routers[1].failed == []
    assert numbers(mesh, 0) == [3]
