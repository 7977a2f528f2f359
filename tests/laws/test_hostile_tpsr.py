"""Hostile air around TPSR: forged routes, circles, absurd lengths, strange addressees, numbers at limits."""

from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.router import Drop, Publication
from roamcast.routing.tpsr.messages import (
    LONGEST_ROUTE,
    MOST_RECIPIENTS,
    Job,
    JobAck,
    PampaEvent,
    Rescue,
    RoutedEvent,
    RouteSubscription,
)
from roamcast.routing.tpsr.parameters import FallbackFlood, PPubsParameters, SubscriptionFlood, TpsrParameters
from roamcast.routing.tpsr.ppubs import PPubs
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh
from roamcast.testing.messages import hostile_messages
from roamcast.wire.codec import encode
from roamcast.wire.errors import WireError

Coupon = EventType("coupon", {"zone": Integer()})
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
LAST = 2**32 - 1

PATTERNS = tuple(Coupon.zone == zone for zone in range(-2, 5))
PUBLICATIONS = tuple(
    Publication(publisher, sequence, THREE) for publisher in (0, 1, 3) for sequence in (1, 2, 40, LAST)
)
PARAMETERS = {
    "plain": TpsrParameters(),
    "future work": TpsrParameters(local_repair=True, adaptive_delay=True),
    "cramped": TpsrParameters(
        subscribers=3,
        pending_jobs=2,
        publication_limit=4,
        last_hop="forward",
        ranking="sound",
        subscription=SubscriptionFlood(pending_limit=1, flood_limit=2),
        last_resort=FallbackFlood(pending_limit=1, flood_limit=2),
    ),
}


@st.composite
def noise(draw, router):
    """What strangers say to whom: a receiver, a sender and a message of every kind that the router knows."""
    said = hostile_messages(
        router, Random(draw(st.integers())), nodes=range(5), patterns=PATTERNS, publications=PUBLICATIONS
    )
    pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=10, max_size=30)
    return [(to, sender, next(said)) for to, sender in draw(pairs)]


def listen(router, words):
    mesh = Mesh.line(4, router, seed=1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=3)
    mesh.publish(0, THREE)
    for to, sender, message in words:
        mesh.inject(to, message, sender)
        mesh.run(for_=0.01)
        for each in mesh.routers:
            assert all(size.entries <= size.limit for size in each.tables().values())
    mesh.run(for_=20)
    assert all(-1 <= sent.message.publication_id < 2**63 for sent in mesh.sent)
    for sent in mesh.sent:
        encode(sent.message)  # nothing is said that could not be written
    return mesh


@pytest.mark.parametrize("name", PARAMETERS)
@settings(deadline=None, max_examples=12)
@given(words=noise(Tpsr))
def test_no_noise_breaks_tpsr(name, words):
    mesh = listen(partial(Tpsr, parameters=PARAMETERS[name]), words)
    if name == "cramped":
        return
    # What was said in a subscriber's name lapses after 500 s; then all is as it was.
    mesh.run(for_=1200)
    mesh.deliveries.clear()
    for _ in range(50):
        mesh.publish(0, THREE)
        mesh.run(for_=0.5)
    # Who forges an event before it is published takes its name: each lie costs one event at most.
    assert len([d for d in mesh.deliveries if d.node == 3]) >= 50 - len(words)


@settings(deadline=None, max_examples=25)
@given(noise(PPubs))
def test_no_noise_breaks_p_pubs(words):
    mesh = listen(PPubs, words)
    mesh.deliveries.clear()
    for _ in range(40):
        mesh.publish(0, THREE)
        mesh.run(for_=1.5)
    assert len([d for d in mesh.deliveries if d.node == 3]) >= 40 - len(words)


@pytest.mark.parametrize(
    "message",
    [
        RouteSubscription(9, 1, (), 0.0, (4, 9)),  # back to the subscriber
        RouteSubscription(9, 1, (), 0.0, (4, 5, 4)),  # through a node twice
        RouteSubscription(9, 1, (), 0.0, tuple(range(100, 101 + LONGEST_ROUTE))),
        RouteSubscription(9, LAST + 1, (), 0.0),
        RouteSubscription(9, 1, (), -1.0),
        RouteSubscription(9, 1, (), float("nan")),
        RoutedEvent(PUBLICATIONS[0], 0.0, (Job(1, 0, frozenset({1})), Job(1, 1, frozenset({2})))),
        RoutedEvent(PUBLICATIONS[0], 0.0, (Job(1, 0, frozenset()),)),
        RoutedEvent(PUBLICATIONS[0], 0.0, (Job(1, MOST_RECIPIENTS + 1, frozenset({1})),)),
        RoutedEvent(PUBLICATIONS[0], 0.0, (Job(1, 0, frozenset(range(MOST_RECIPIENTS + 1))),)),
        Rescue(PUBLICATIONS[0], 0.0, frozenset(), frozenset(), 5),
        JobAck(-1, 0),
        PampaEvent(PUBLICATIONS[0], 256),
    ],
)
def test_what_cannot_be_true_has_no_bytes(message):
    with pytest.raises(WireError):
        encode(message)


def test_bytes_of_a_route_with_a_circle_are_malformed():
    mesh = Mesh(1, Tpsr)
    straight = encode(RouteSubscription(9, 1, (), 0.0, (4, 5)))
    circle = straight.replace((5).to_bytes(4, "big"), (4).to_bytes(4, "big"))
    assert mesh.inject(0, circle, sender=4) is Drop.MALFORMED
    assert mesh.inject(0, straight, sender=5) is None


@pytest.mark.parametrize("sender", [9, 4, 7])
def test_a_subscription_whose_route_does_not_end_at_its_speaker_is_malformed(sender):
    mesh = Mesh(1, Tpsr)
    assert mesh.inject(0, RouteSubscription(9, 1, (), 0.0, (4, 5)), sender=sender) is Drop.MALFORMED
    assert len(mesh.routers[0].table.leases) == 0


def test_nobody_talks_to_itself():
    mesh = Mesh.line(2, Tpsr)
    mesh.add_event_type(Coupon)
    for message in (
        RouteSubscription(9, 1, (NARROW,), 0.0, (1,)),
        RoutedEvent(PUBLICATIONS[0], 0.0, (Job(1, 0, frozenset({1})),)),
        PampaEvent(PUBLICATIONS[0]),
    ):
        assert mesh.inject(1, message, sender=1) is Drop.MALFORMED
    mesh.run(for_=5)
    assert mesh.sent == []


def test_a_route_that_leads_through_the_hearer_is_not_taken():
    mesh = Mesh(1, Tpsr)
    assert mesh.inject(0, RouteSubscription(9, 1, (), 0.0, (0, 5)), sender=5) is Drop.DUPLICATE
    assert mesh.routers[0].table.route(9, 0.0) is None


def test_unknown_recipients_cost_one_flood_and_no_more():
    mesh = Mesh.line(3, Tpsr)
    mesh.add_event_type(Coupon)
    stranger = RoutedEvent(Publication(7, 1, THREE), 0.0, (Job(1, 0, frozenset({77, 78})),))
    for _ in range(5):
        mesh.inject(1, stranger, sender=0)
        mesh.run(for_=1)
    assert len(mesh.sent_of(PampaEvent)) == 3


def test_floods_of_fake_subscribers_publications_and_jobs_leave_tables_bounded():
    small = TpsrParameters(
        subscribers=20,
        pending_jobs=20,
        publication_limit=100,
        local_repair=True,
        subscription=SubscriptionFlood(pending_limit=20, flood_limit=100),
        last_resort=FallbackFlood(pending_limit=20, flood_limit=100),
    )
    mesh = Mesh.line(3, partial(Tpsr, parameters=small))
    mesh.subscribe(2, NARROW)
    mesh.run(for_=3)
    router = mesh.routers[1]
    for fake in range(300):
        event = Publication(1000 + fake, 1, THREE)
        router.receive(RouteSubscription(1000 + fake, LAST, (NARROW,), 1e-9, (5,)), 5, 1e-9)
        router.receive(RoutedEvent(event, 0.0, (Job(1, 1000, frozenset({2, 999, fake})),)), 0, 1e-9)
        router.receive(RoutedEvent(event, 0.0, (Job(1, 0, frozenset({3})),)), 4, 1e-9)
        router.receive(Rescue(event, 0.0, frozenset({2, 1000 + fake}), frozenset({9}), 9), 0, 1e-9)
        router.receive(PampaEvent(Publication(5000 + fake, 1, THREE)), 0, 1e-9)
        for name, size in router.tables().items():
            assert size.entries <= size.limit, name
    mesh.run(for_=30)
    mesh.run(for_=1000)
    mesh.deliveries.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)]


def test_floods_of_fake_publications_leave_p_pubs_bounded():
    small = PPubsParameters(pending_limit=20, flood_limit=100)
    mesh = Mesh.line(2, partial(PPubs, parameters=small))
    for fake in range(1000):
        mesh.routers[0].receive(PampaEvent(Publication(1000 + fake, LAST, THREE), 255), 1, 0.0)
        mesh.routers[0].receive(PampaEvent(Publication(1000 + fake, 1, THREE)), 1, 0.0)
    assert all(size.entries <= size.limit for size in mesh.routers[0].tables().values())
    mesh.run(for_=2)
