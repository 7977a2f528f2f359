"""On a still, loss-free mesh each subscriber gets each event once, for the price of its routes' union."""

from collections import Counter
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.tpsr.messages import JobAck, PampaEvent, RoutedEvent
from roamcast.routing.tpsr.parameters import SubscriptionFlood, TpsrParameters
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh
from roamcast.testing.swarm.topology import connect

Coupon = EventType("coupon", {"zone": Integer()})
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)

EVERYONE_REPEATS = partial(Tpsr, parameters=TpsrParameters(subscription=SubscriptionFlood(copies=1000)))


@st.composite
def grounds(draw):
    """Nodes in a square that form one network, and some of them who subscribe."""
    coordinate = st.integers(0, 800)
    places = draw(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=10, unique=True))
    count = draw(st.integers(1, min(4, len(places) - 1)))
    subscribers = draw(st.permutations(range(1, len(places))))[:count]
    return places, subscribers


def lay(places, subscribers):
    mesh = Mesh(len(places), EVERYONE_REPEATS, connect([(float(x), float(y)) for x, y in places]))
    for node, (x, y) in enumerate(places):
        mesh.place(node, x, y)
    for node in subscribers:
        mesh.subscribe(node, NARROW)
        mesh.run(for_=6)
    return mesh


def hops_of(mesh, publisher, subscribers):
    """The hops of the union of the routes, each node's by its own table: (node, next hop)."""
    hops = set()
    for subscriber in subscribers:
        node, been = publisher, set()
        while node != subscriber:
            assert node not in been, "the tables point in a circle"
            been.add(node)
            after = mesh.routers[node].table.route(subscriber, mesh.now).hops[0]
            hops.add((node, after))
            node = after
    return hops


@settings(deadline=None, max_examples=80)
@given(grounds())
def test_each_subscriber_gets_each_event_once_for_as_many_broadcasts_as_its_routes_have_inner_nodes(ground):
    mesh = lay(*ground)
    _, subscribers = ground
    hops = hops_of(mesh, 0, subscribers)
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert sorted(mesh.delivered) == [(node, THREE) for node in sorted(subscribers)]
    assert mesh.sent_of(PampaEvent) == []
    inner, entries = {node for node, _ in hops}, Counter(after for _, after in hops)
    broadcasts = [s.node for s in mesh.sent_of(RoutedEvent)]
    assert set(broadcasts) == inner
    if max(entries.values()) == 1:  # a tree: no node is given the event by two others
        assert len(broadcasts) == len(inner)
        # What the last hop adds: a word of each subscriber that has nobody to pass it on to.
        assert sorted(s.node for s in mesh.sent_of(JobAck)) == sorted(set(subscribers) - inner)


@settings(deadline=None, max_examples=40)
@given(grounds())
def test_within_one_renewal_no_tables_point_in_a_circle_and_every_hop_is_in_range(ground):
    places, subscribers = ground
    mesh = lay(places, subscribers[:1])
    for publisher in range(len(places)):
        if publisher != subscribers[0]:
            for node, after in hops_of(mesh, publisher, subscribers[:1]):
                assert after in mesh.neighbours(node)


def test_the_union_of_two_routes_may_be_a_tree_with_a_branch():
    mesh = lay([(0, 0), (200, 0), (400, 0), (500, 150), (500, -150)], [3, 4])
    assert hops_of(mesh, 0, [3, 4]) == {(0, 1), (1, 2), (2, 3), (2, 4)}
