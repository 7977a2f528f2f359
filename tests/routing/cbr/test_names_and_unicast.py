"""Behaviour of CBR that the paper's text and tables leave open: named subscribers, events by unicast."""

from functools import partial

import pytest
from pydantic import ValidationError

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import NamedSubscription, Subscription, TreeEvent
from roamcast.routing.cbr.parameters import CbrParameters, FtCbrParameters
from roamcast.routing.router import BROADCAST, Drop
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3


def star(router, subscribers=(2, 3, 4), **options):
    """Publisher 0 and broker 1 in a line, and the subscribers behind the broker."""
    kind = FtCbrParameters if router is FtCbr else CbrParameters
    mesh = Mesh(5, partial(router, parameters=kind(**options)), [(0, 1), (1, 2), (1, 3), (1, 4)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    for node in subscribers:
        mesh.subscribe(node, NARROW)
    mesh.run(for_=1)
    return mesh


@pytest.mark.parametrize("router", [Cbr, FtCbr])
@pytest.mark.parametrize("named", [True, False])
def test_a_broker_renews_equal_subscriptions_once_per_child_or_once_per_subscriber(router, named):
    # 5 subscribes through 2, so that two subscribers share a child of the broker.
    kind = FtCbrParameters if router is FtCbr else CbrParameters
    edges = [(0, 1), (1, 2), (2, 3), (2, 4)]
    mesh = Mesh(5, partial(router, parameters=kind(name_subscribers=named)), edges)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    for node in (3, 4):
        mesh.subscribe(node, NARROW)
    mesh.run(for_=30)
    mesh.sent.clear()
    mesh.run(for_=7)
    kinds = (Subscription, NamedSubscription)
    to_publisher = [s.message for s in mesh.sent if s.node == 1 and isinstance(s.message, kinds)]
    if named:
        assert sorted(each.subscriber for each in to_publisher) == [3, 4]
    else:
        assert to_publisher == [Subscription(NARROW)]
    event = mesh.publish(0, Coupon(zone=3))
    mesh.run(for_=1)
    assert {(d.node, d.publication.id) for d in mesh.deliveries} == {(3, event.id), (4, event.id)}


def test_a_named_subscription_that_comes_back_to_its_subscriber_is_dropped():
    mesh = star(Cbr, name_subscribers=True)
    assert mesh.inject(2, NamedSubscription(NARROW, 2), sender=1) is Drop.DUPLICATE
    assert not mesh.routers[2].subscriptions.entries(mesh.now)


def test_a_node_without_names_takes_a_named_subscription_as_an_anonymous_one():
    mesh = star(Cbr)
    assert mesh.inject(1, NamedSubscription(NARROW, 9), sender=2) is None
    assert len(mesh.routers[1].named.leases) == 0


def test_named_subscribers_and_covering_exclude_each_other():
    with pytest.raises(ValidationError, match="name_subscribers = true: expected false with covering"):
        CbrParameters(name_subscribers=True, covering=True)


@pytest.mark.parametrize("router", [Cbr, FtCbr])
def test_by_unicast_every_child_gets_its_own_copy(router):
    mesh = star(router, unicast_events=True)
    mesh.sent.clear()
    mesh.publish(0, Coupon(zone=3))
    mesh.run(for_=2)
    sent = [(s.node, s.to, sorted(s.message.children)) for s in mesh.sent if isinstance(s.message, TreeEvent)]
    assert sent == [(0, 1, [1]), (1, 2, [2]), (1, 3, [3]), (1, 4, [4])]
    assert sorted(d.node for d in mesh.deliveries) == [2, 3, 4]


def test_by_broadcast_one_transmission_serves_all_children():
    mesh = star(Cbr)
    mesh.sent.clear()
    mesh.publish(0, Coupon(zone=3))
    mesh.run(for_=2)
    events = [(s.node, s.to) for s in mesh.sent if isinstance(s.message, TreeEvent)]
    assert events == [(0, BROADCAST), (1, BROADCAST)]
