"""Hostile air: nothing that anyone says crashes a node, fills its tables or stops the others."""

from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import Advert, MostCovering, Subscription
from roamcast.routing.cbr.parameters import CbrParameters, FtCbrParameters
from roamcast.routing.cbr.raft.messages import (
    Ack,
    Addressee,
    InterestPeriod,
    Nack,
    SequenceGap,
    Subscribe,
    XcastEvent,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh
from roamcast.testing.messages import hostile_messages

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

PATTERNS = (EVERYTHING, NARROW, *(Coupon.zone == zone for zone in range(-2, 5)))
PUBLICATIONS = tuple(
    Publication(publisher, sequence, event)
    for publisher in (0, 1, 3)
    for sequence in (1, 2, 40)
    for event in (THREE, SEVEN)
)


@st.composite
def noise(draw, router):
    """What strangers say to whom: a receiver, a sender and a message of every kind that the router knows."""
    said = hostile_messages(
        router, Random(draw(st.integers())), nodes=range(5), patterns=PATTERNS, publications=PUBLICATIONS
    )
    return [
        (to, sender, next(said))
        for to, sender in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30))
    ]


def listen(router, words):
    mesh = Mesh.line(4, router, seed=1)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=20)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=10)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    for to, sender, message in words:
        mesh.inject(to, message, sender)
        mesh.run(for_=0.01)
    mesh.run(for_=20)
    return mesh


@settings(deadline=None, max_examples=60)
@given(noise(FtCbr), st.booleans())
def test_no_noise_breaks_cbr(words, most_covering):
    mesh = listen(
        lambda host: FtCbr(host, FtCbrParameters(covering=True, most_covering=most_covering)), words
    )
    assert all(-1 <= sent.message.publication_id < 2**63 for sent in mesh.sent)
    # Forged leases last 15 s a hop, forged serials of adverts as long; then all is as it was.
    mesh.run(for_=120)
    mesh.deliveries.clear()
    for _ in range(50):
        mesh.publish(0, THREE)
        mesh.run(for_=0.2)
    assert {d.node for d in mesh.deliveries} == {3}
    # Who forges an event before it is published takes its name: each lie costs one event at most.
    assert len(mesh.deliveries) >= 50 - len(words)


@settings(deadline=None, max_examples=60)
@given(noise(RaftCbr))
def test_no_noise_breaks_raft(words):
    mesh = listen(RaftCbr, words)
    assert all(-1 <= sent.message.publication_id < 2**63 for sent in mesh.sent)
    mesh.publish(0, THREE)
    mesh.run(for_=5)


@pytest.mark.parametrize("router", [Cbr, FtCbr, RaftCbr])
def test_a_message_that_claims_to_come_from_me_is_refused(router):
    mesh = Mesh.line(2, router)
    for message in (Advert(5, EVERYTHING, 0, 1), Subscription(NARROW)):
        assert mesh.inject(1, message, sender=1) is not None


def test_a_flood_of_fake_advertisements_leaves_tables_bounded_and_the_run_goes_on():
    small = CbrParameters(adverts=50, subscriptions=50, neighbours_news=50, most_covering=True)
    mesh = Mesh.line(3, lambda host: Cbr(host, small))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    router = mesh.routers[1]
    for fake in range(1_000):
        router.receive(Advert(1000 + fake, NARROW, 1, fake), 9, 0.0)
        router.receive(Subscription(Coupon.zone == fake % 500), 1000 + fake, 0.0)
        router.receive(MostCovering(1000 + fake, NARROW, 1, 1), 9, 0.0)
    assert len(router.adverts.leases) == len(router.subscriptions.leases) == len(router.trees.leases) == 50
    mesh.run(for_=60)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=10)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_fake_subscribers_and_publishers_leave_raft_tables_bounded():
    small = RaftCbrParameters(adverts=50, subscribers=50, publishers=50, cached_events=50, reorder_buffer=50)
    mesh = Mesh.line(2, lambda host: RaftCbr(host, small))
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=60)
    publisher, subscriber = mesh.routers
    for fake in range(2_000):
        forged = Publication(0, 10**6 + fake, THREE)
        subscriber.receive(XcastEvent(forged, (0,), (Addressee(1, 10**6 + fake - 1, 1),)), 0, 0.0)
        subscriber.receive(Datagram(0, 1, 9, Ack(7, fake, frozenset({3}))), 0, 0.0)
    assert len(subscriber.ordering.streams[0].early) == 50
    assert len(subscriber.cache.events) == 50
    assert len(subscriber.acks.gathered) <= 51
    for fake in range(2_000):
        subscription = Subscribe(1000 + fake, 1, 1, -1, 0, 0, (InterestPeriod(NARROW, 0, 0),))
        publisher.receive(Datagram(1000 + fake, 0, 9, subscription), 1, 0.0)
        subscriber.receive(Advert(1000 + fake, NARROW, 1, fake, 1), 0, 0.0)
    assert len(publisher.publishing.sessions) == 50
    assert len(subscriber.subscribing.subscriptions) == 50
    assert subscriber.ordering.streams[0].early == {}, "the subscription to publisher 0 was evicted"
    mesh.run(for_=10)


def test_events_for_nobody_leave_the_custody_of_a_broker_bounded():
    small = RaftCbrParameters(cached_events=50)
    mesh = Mesh.line(3, lambda host: RaftCbr(host, small))
    mesh.run(for_=30)
    broker = mesh.routers[1]
    for fake in range(2_000):
        forged = Publication(9, fake, THREE)
        event = XcastEvent(forged, (9,), (Addressee(1000 + fake, -1, 1),))
        broker.receive(event, 0, 0.0)
        broker.link_failed(event, 2)
        broker.link_failed(event, 1000 + fake)
    assert len(broker.custody.waiting) <= 50
    assert len(broker.unicast._failed) <= broker.parameters.dsdv.destinations
    mesh.run(for_=60)
    assert broker.custody.waiting == {}


def test_large_forged_events_leave_raft_tables_bounded_in_bytes():
    limit = 2**17
    small = RaftCbrParameters(event_bytes=limit)
    mesh = Mesh.line(3, lambda host: RaftCbr(host, small))
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=60)
    broker, largest = mesh.routers[1], Counter()
    for fake in range(1_000):
        forged = Publication(0, 10**6 + fake, THREE, size=1000)
        places = (Addressee(1, 10**6 + fake - 1, 1), Addressee(10_000 + fake, -1, 1))
        event = XcastEvent(forged, (0,), places)
        broker.receive(event, 0, 0.0)
        stuck = msgspec.structs.replace(event, destinations=places[1:])
        broker.link_failed(stuck, 2)
        broker.link_failed(stuck, 10_000 + fake)
        for name, table in broker.tables().items():
            largest[name] = max(largest[name], table.bytes)
    for name in ("cache", "custody", "early"):
        assert limit // 2 < largest[name] <= limit, name
    assert Drop.TABLE_FULL in {drop.reason for drop in mesh.drops}
    mesh.run(for_=60)


def test_copies_received_lately_are_bounded_in_bytes():
    limit = 2**17
    broker = Mesh.line(2, lambda host: RaftCbr(host, RaftCbrParameters(event_bytes=limit))).routers[1]
    everybody = tuple(Addressee(10_000 + node, -1, 1) for node in range(1024))
    for fake in range(100):
        broker.receive(XcastEvent(Publication(9, fake, THREE), (9,), everybody), 0, 0.0)
        assert broker.tables()["recent"].bytes <= limit
    assert broker.tables()["recent"].bytes > limit // 2


def test_merged_lists_of_a_broker_fit_into_a_message():
    mesh = Mesh.line(3, lambda host: RaftCbr(host, RaftCbrParameters()))
    mesh.as_bytes = True
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=30)
    broker = mesh.routers[1]
    forged = Publication(0, 1, THREE)
    for copy in range(5):
        nodes = range(10_000 + 1000 * copy, 11_000 + 1000 * copy)
        event = XcastEvent(forged, (0,), tuple(Addressee(node, -1, 1) for node in nodes))
        broker.receive(event, 0, 0.0)
        for neighbour in (0, 2):
            broker.link_failed(event, neighbour)
        broker.receive(Datagram(2, 1, 9, Ack(0, 1, frozenset(nodes))), 2, 0.0)
        assert max(map(len, broker.acks.gathered.values())) <= 1024
        assert len(broker.cache.find(event).destinations) <= 1024
        assert len(broker.custody.waiting[forged.id][1]) <= 1024
    gaps = tuple(SequenceGap(10 * n, 10 * n + 2) for n in range(1024))
    for n in range(16):
        place = Addressee(2, 10 * n, 1)
        broker.receive(XcastEvent(Publication(0, 10 * n + 1, THREE), (0,), (place,)), 0, 0.0)
    broker.receive(Datagram(2, 1, 9, Nack(0, 2, (0,), 0, gaps, 1)), 2, 0.0)
    mesh.run(for_=30)
    [forwarded, *_] = [each.message for each in mesh.sent_of(Nack) if each.node == 1]
    assert len(forwarded.holes) == 1024
