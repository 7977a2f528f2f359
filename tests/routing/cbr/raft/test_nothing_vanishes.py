"""Nothing disappears silently in RAFT-CBR: what a node carries goes on, waits, or is dropped for a reason."""

from collections import Counter
from random import Random

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import (
    ORDER_LIMIT,
    Ack,
    Addressee,
    EditionAck,
    InterestPeriod,
    Nack,
    Ping,
    SequenceGap,
    Subscribe,
    XcastEvent,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import LinkModel, Mesh
from roamcast.wire.message import unwrap

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
THREE = Coupon(zone=3)
PARAMETERS = RaftCbrParameters(
    chain_limit=8,
    reorder_buffer=3,
    cached_events=4,
    ping_wait=2.0,
    dsdv=RaftDsdvParameters(period=3, settling=0.0, link_feedback=False),
)


class Watched(RaftCbr):
    """RAFT-CBR that counts what it does for each message that others are to get from it."""

    mesh: Mesh
    ends: Counter

    def done(self):
        """Everything that could have become of a message so far: sent on, kept for later, or dropped."""
        node = self.host.node
        return (
            sum(sent.node == node for sent in self.mesh.sent),
            sum(drop.node == node for drop in self.mesh.drops),
            len(self.unicast.held),
            sorted((id, sorted(stuck)) for id, (_, stuck) in self.custody.waiting.items()),
            len(self.mesh._due),
        )

    def receive(self, message, sender, signal):
        before = self.done()
        reason = super().receive(message, sender, signal)
        if isinstance(message, Datagram) and message.destination != self.host.node:
            assert reason is not None or self.done() != before, f"vanished: {message}"
            self.ends["carried", reason] += 1
        return reason

    def link_failed(self, message, to):
        before = self.done()
        super().link_failed(message, to)
        assert self.done() != before, f"vanished when the link gave up: {message}"
        self.ends["link failed", type(unwrap(message))] += 1


def live_through(seed, ends):
    """A network in which links fail most of the time."""

    def router(host):
        made = Watched(host, PARAMETERS)
        made.mesh, made.ends = host._mesh, ends
        return made

    random = Random(seed)
    edges = [(n, n + 1) for n in range(6)] + [(0, 3), (2, 5)]
    mesh = Mesh(7, router, edges, links=LinkModel(loss=0.3, tries=2, duplicate=0.1, jitter=0.05), seed=seed)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=15)
    for node in (3, 4, 5, 6):
        mesh.subscribe(node, EVERYTHING)
    for _ in range(40):
        (mesh.cut if random.random() < 0.6 else mesh.join)(*random.choice(edges))
        mesh.publish(0, THREE)
        mesh.run(for_=random.choice([0.2, 1.0, 3.0]))


def test_whatever_is_carried_goes_on_or_waits_or_has_a_reason():
    ends = Counter()
    for seed in range(6):
        live_through(seed, ends)
    failed = {what for kind, what in ends if kind == "link failed"}
    assert failed >= {Subscribe, EditionAck, XcastEvent, Ack, Nack, Ping}
    assert ends["carried", None] > 300


def lonely():
    """A publisher and a neighbour that has lost everyone."""
    mesh = Mesh.line(3, lambda host: RaftCbr(host, PARAMETERS))
    mesh.run(for_=10)
    mesh.cut(0, 1)
    mesh.cut(1, 2)
    mesh.run(for_=30)
    mesh.drops.clear()
    return mesh, mesh.routers[1]


@pytest.mark.parametrize(
    "message",
    [
        Ack(0, 1, frozenset({2})),
        Nack(0, 2, (), 0, (SequenceGap(1, 1),), 1),
        Subscribe(2, 7, 1, -8, 0, 0, (InterestPeriod(EVERYTHING, 0, 0),)),
        Ping(0, (0,), (2,)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_that_the_link_gave_up_on_and_that_has_no_other_way_is_dropped(message):
    mesh, router = lonely()
    router.link_failed(Datagram(2, 0, 9, message), 0)
    assert [(drop.node, type(drop.message), drop.reason) for drop in mesh.drops] == [
        (1, type(message), Drop.NO_ROUTE)
    ]


def test_a_message_that_went_around_too_often_is_dropped():
    mesh, router = lonely()
    router.link_failed(Datagram(2, 0, 1, Ack(0, 1, frozenset({2}))), 0)
    assert [drop.reason for drop in mesh.drops] == [Drop.HOP_LIMIT]


def test_what_nobody_is_to_get_is_refused():
    mesh, _ = lonely()
    publication = Publication(0, 1, THREE)
    for empty in (
        XcastEvent(publication, (0,), ()),
        Ping(0, (0,), ()),
        Datagram(0, 1, 9, Ack(0, 1, frozenset())),
        Datagram(0, 1, 9, Nack(0, 2, (), 0, (), 1)),
    ):
        assert mesh.inject(1, empty, sender=0) is Drop.MALFORMED


def subscriber(**parameters):
    mesh = Mesh.line(2, lambda host: RaftCbr(host, PARAMETERS.model_copy(update=parameters)))
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    mesh.subscribe(1, EVERYTHING)
    mesh.run(for_=3)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    mesh.drops.clear()
    return mesh


def addressed(sequence, before, edition=1):
    publication = Publication(0, sequence, THREE)
    return XcastEvent(publication, (0,), (Addressee(1, before, edition),))


def test_an_event_that_makes_room_for_one_nearer_is_dropped():
    mesh = subscriber(reorder_buffer=2)
    for sequence in (9, 8, 7):
        mesh.inject(1, addressed(sequence, sequence - 1), sender=0)
    assert [(drop.message.publication_id, drop.reason) for drop in mesh.drops] == [(9, Drop.TABLE_FULL)]


def test_copies_that_a_new_edition_no_longer_lists_are_dropped():
    mesh = subscriber()
    mesh.inject(1, addressed(9, 8), sender=0)
    mesh.inject(1, addressed(11, 9), sender=0)
    mesh.routers[1].ordering.resume(0, 2, {11: 1})
    assert [(drop.message.publication_id, drop.reason) for drop in mesh.drops] == [(9, Drop.UNWANTED)]
    assert [each.publication.sequence for each in mesh.deliveries] == [1, 11]


def test_copies_of_an_older_edition_wait_for_the_list_of_the_new_one():
    mesh = subscriber()
    mesh.inject(1, addressed(9, 8), sender=0)
    ordering = mesh.routers[1].ordering
    ordering.resume(0, 2)
    assert not mesh.drops and len(mesh.deliveries) == 1
    ordering.resume(0, 2, {9: 1})
    assert [each.publication.sequence for each in mesh.deliveries] == [1, 9]


def test_copies_beyond_a_full_list_wait_on():
    mesh = subscriber()
    mesh.subscribe(1, Coupon.zone == 3)  # a second version, whose edition the last copy has
    mesh.run(for_=1)
    mesh.inject(1, addressed(5000, 8), sender=0)
    mesh.routers[1].ordering.resume(0, 2, {number + 1: number for number in range(1, ORDER_LIMIT + 1)})
    assert not mesh.drops
    mesh.inject(1, addressed(5000, 1, 2), sender=0)
    assert [each.publication.sequence for each in mesh.deliveries] == [1, 5000]


@pytest.mark.parametrize("ages", [(9.0, 0.0), (0.0, 9.0)])
def test_of_the_ages_of_two_early_copies_the_greater_one_counts(ages):
    """An age is what the relays have counted, so an event is at least that old."""
    mesh = subscriber()
    mesh.run(for_=20)
    ordering, now = mesh.routers[1].ordering, mesh.now

    def hand_over(sequence, age, known_until):
        event = XcastEvent(Publication(0, sequence, THREE), (0,), (), age=int(1000 * age))
        ordering.handle(event, Addressee(1, sequence - 1, 1), (), known_until, True)

    for age in ages:
        hand_over(3, age, now - 5.0)
    hand_over(2, 10.0, now - 5.0)
    assert [each.publication.sequence for each in mesh.deliveries] == [1, 2, 3]


def test_an_event_from_before_it_was_wanted_is_dropped_as_unwanted():
    mesh = subscriber()
    publication = Publication(0, 2, THREE)
    old = XcastEvent(publication, (0,), (Addressee(1, 1, 1, True),), age=60_000)
    assert mesh.inject(1, old, sender=0) is Drop.UNWANTED
    assert len(mesh.deliveries) == 1


def test_events_of_a_publisher_that_is_forgotten_are_dropped():
    mesh = subscriber(publishers=1)
    mesh.inject(1, addressed(9, 8), sender=0)
    mesh.routers[1].ordering.answer_ping(77, ())
    assert [(drop.message.publication_id, drop.reason) for drop in mesh.drops] == [(9, Drop.TABLE_FULL)]
