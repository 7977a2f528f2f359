"""Nothing disappears silently in RAFT-CBR: what a node carries goes on, waits, or is dropped for a reason."""

from collections import Counter
from random import Random

import pytest

from roamcast.content.kind import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import (
    Ack,
    Addressee,
    Nack,
    Period,
    Ping,
    Subscribe,
    SubscribeAck,
    XcastEvent,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import BROADCAST, Drop, Publication
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.testing import LinkModel, Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
THREE = Coupon(zone=3)
PARAMETERS = RaftCbrParameters(
    chain_limit=8,
    reorder=3,
    cached=4,
    ping_wait=2.0,
    dsdv=DsdvParameters(period=3, settling=0.0, link_feedback=False),
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
            sum(map(len, self.unicast._held.values())),
            sorted((id, sorted(stuck)) for id, (_, stuck) in self.custody.waiting.items()),
            len(self.mesh._due),
        )

    def receive(self, message, sender, signal):
        before = self.done()
        reason = super().receive(message, sender, signal)
        if getattr(message, "to", BROADCAST) not in (BROADCAST, self.host.node):
            assert reason is not None or self.done() != before, f"vanished: {message}"
            self.ends["carried", reason] += 1
        return reason

    def link_failed(self, message, to):
        before = self.done()
        super().link_failed(message, to)
        assert self.done() != before, f"vanished when the link gave up: {message}"
        self.ends["link failed", type(message)] += 1


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
        (mesh.part if random.random() < 0.6 else mesh.join)(*random.choice(edges))
        mesh.publish(0, THREE)
        mesh.run(for_=random.choice([0.2, 1.0, 3.0]))


def test_whatever_is_carried_goes_on_or_waits_or_has_a_reason():
    ends = Counter()
    for seed in range(6):
        live_through(seed, ends)
    failed = {what for kind, what in ends if kind == "link failed"}
    assert failed >= {Subscribe, SubscribeAck, XcastEvent, Ack, Nack, Ping}
    assert ends["carried", None] > 300


def lonely():
    """A publisher and a neighbour that has lost everyone."""
    mesh = Mesh.line(3, lambda host: RaftCbr(host, PARAMETERS))
    mesh.run(for_=10)
    mesh.part(0, 1)
    mesh.part(1, 2)
    mesh.run(for_=30)
    mesh.drops.clear()
    return mesh, mesh.routers[1]


@pytest.mark.parametrize(
    "message",
    [
        Ack(0, 0, 1, frozenset({2})),
        Nack(0, 0, 2, (), 0, ((1, 1),), 1),
        Subscribe(0, 2, 7, 1, -7, 0, 0, (Period(EVERYTHING, 0, 0),)),
        Ping(0, (0,), (2,)),
        Ping(0, (0,), (2,), 2),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_that_the_link_gave_up_on_and_that_has_no_other_way_is_dropped(message):
    mesh, router = lonely()
    router.link_failed(message, 0)
    assert [(drop.node, type(drop.message), drop.reason) for drop in mesh.drops] == [
        (1, type(message), Drop.NO_ROUTE)
    ]


def test_a_subscription_that_knows_no_way_is_dropped_with_a_reason():
    mesh, router = lonely()
    router.xcast.post(Subscribe(0, 1, 7, 1, -7, 0, 0, ()), 0)
    assert [drop.reason for drop in mesh.drops] == [Drop.NO_ROUTE]


def test_a_message_that_went_around_too_often_is_dropped():
    mesh, router = lonely()
    router.link_failed(Ack(0, 0, 1, frozenset({2}), hops=PARAMETERS.chain_limit), 0)
    assert [drop.reason for drop in mesh.drops] == [Drop.HOP_LIMIT]


def test_what_nobody_is_to_get_is_refused():
    mesh, _ = lonely()
    publication = Publication(0, 1, THREE)
    for empty in (
        XcastEvent(publication, (0,), ()),
        Ping(0, (0,), ()),
        Ack(1, 0, 1, frozenset()),
        Nack(1, 0, 2, (), 0, (), 1),
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
    mesh = subscriber(reorder=2)
    for sequence in (9, 8, 7):
        mesh.inject(1, addressed(sequence, sequence - 1), sender=0)
    assert [(drop.message.about, drop.reason) for drop in mesh.drops] == [(9, Drop.TABLE_FULL)]


def test_copies_of_an_older_edition_that_waited_are_dropped():
    mesh = subscriber()
    mesh.inject(1, addressed(9, 8), sender=0)
    mesh.routers[1].ordering.resume(0, 2)
    assert [(drop.message.about, drop.reason) for drop in mesh.drops] == [(9, Drop.EXPIRED)]


def test_an_event_from_before_it_was_wanted_is_dropped_as_unwanted():
    mesh = subscriber()
    publication = Publication(0, 2, THREE)
    old = XcastEvent(publication, (0,), (Addressee(1, 1, 1, True),), age=60_000)
    assert mesh.inject(1, old, sender=0) is Drop.UNWANTED
    assert len(mesh.deliveries) == 1


def test_events_of_a_publisher_that_is_forgotten_are_dropped():
    mesh = subscriber(publishers=1)
    mesh.inject(1, addressed(9, 8), sender=0)
    mesh.routers[1].ordering.answer(77, ())
    assert [(drop.message.about, drop.reason) for drop in mesh.drops] == [(9, Drop.TABLE_FULL)]
