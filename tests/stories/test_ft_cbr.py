"""Stories of FT-CBR: acknowledgements hop by hop, and floods that look for lost children."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import EventAck, Subscription, TreeEvent
from roamcast.routing.cbr.parameters import FtCbrParameters
from roamcast.routing.router import Drop, Publication
from roamcast.testing import LinkModel, Mesh, lose

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)


RING = partial(FtCbr, parameters=FtCbrParameters(search="ring"))


def tree(edges, nodes, subscribers, router=FtCbr):
    mesh = Mesh(nodes, router, edges)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    for node in subscribers:
        mesh.subscribe(node, NARROW)
    mesh.run(for_=1)
    return mesh


def test_every_hop_acknowledges_and_nothing_is_flooded():
    mesh = tree([(0, 1), (1, 2), (2, 3)], 4, [3])
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert mesh.delivered == [(3, THREE)]
    assert [(s.node, s.to) for s in mesh.sent_of(EventAck)] == [(1, 0), (2, 1), (3, 2)]
    assert all(s.message.flood == 0 for s in mesh.sent_of(TreeEvent))
    assert all(len(router.waiting) == 0 for router in mesh.routers)


def test_a_flood_finds_a_child_two_hops_away():
    mesh = tree([(0, 1), (1, 2), (0, 3)], 4, [1])
    mesh.cut(0, 1)
    mesh.join(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.49)
    assert mesh.delivered == []
    mesh.run(for_=0.1)
    assert mesh.delivered == [(1, THREE)]


def test_an_expanding_ring_stops_at_one_hop_if_the_child_is_still_there():
    mesh = tree([(0, 1), (0, 2)], 3, [1], RING)
    with mesh.fault(lose(TreeEvent, to=1)):
        mesh.publish(0, THREE)
        mesh.run(for_=0.3)
    mesh.run(for_=3)
    assert mesh.delivered == [(1, THREE)]
    assert [(s.node, s.message.flood) for s in mesh.sent_of(TreeEvent)] == [(0, 0), (0, 1)]
    assert [(s.node, s.to) for s in mesh.sent_of(EventAck)] == [(1, 0)]


def test_an_expanding_ring_finds_a_child_two_hops_away_in_its_second_round():
    mesh = tree([(0, 1), (1, 2), (0, 3)], 4, [1], RING)
    mesh.cut(0, 1)
    mesh.join(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.99)
    assert mesh.delivered == []
    mesh.run(for_=0.1)
    assert mesh.delivered == [(1, THREE)]
    mesh.run(for_=3)
    rings = [(s.node, s.message.flood) for s in mesh.sent_of(TreeEvent) if s.message.flood]
    assert rings == [(0, 1), (0, 2), (3, 1)]


def test_a_node_that_heard_the_first_ring_relays_the_second():
    # 3 is a child of 0 itself, so that it has the event in its table when the rings for 1 come.
    mesh = tree([(0, 1), (0, 3)], 4, [1, 3], RING)
    mesh.cut(0, 1)
    mesh.join(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert sorted(mesh.delivered) == [(1, THREE), (3, THREE)]


def test_a_flood_does_not_find_a_child_three_hops_away():
    mesh = tree([(0, 1), (0, 3), (3, 4)], 5, [1])
    mesh.cut(0, 1)
    mesh.join(1, 4)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    assert mesh.delivered == []
    assert [(s.node, s.message.flood) for s in mesh.sent_of(TreeEvent)] == [(0, 0), (0, 2), (3, 1)]


def test_only_silent_children_are_searched_for():
    mesh = tree([(0, 1), (0, 2), (0, 3), (1, 3)], 4, [1, 2])
    mesh.cut(0, 2)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    floods = [s for s in mesh.sent_of(TreeEvent) if s.message.flood == 2]
    assert [set(s.message.children) for s in floods] == [{2}]


def test_a_found_child_goes_on_with_its_own_children():
    # 1 has moved behind 3; 2 still hangs on 1.
    mesh = tree([(0, 1), (1, 2), (0, 3)], 4, [1, 2])
    mesh.cut(0, 1)
    mesh.join(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(1, THREE), (2, THREE)]


def test_a_child_that_relays_the_flood_for_its_parent_gets_the_event_too():
    # 1 was next to 0 and now is behind its own child 2: the flood comes to 1 from 2.
    mesh = tree([(0, 1), (1, 2)], 3, [2])
    mesh.join(0, 2)
    mesh.cut(0, 1)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)]


def test_a_lost_acknowledgement_costs_a_flood_but_delivers_once():
    mesh = tree([(0, 1), (0, 2), (1, 2)], 3, [1])
    real = mesh.routers[0].handlers[EventAck]
    mesh.routers[0].handlers[EventAck] = lambda message, sender: Drop.EXPIRED
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    mesh.routers[0].handlers[EventAck] = real
    assert any(s.message.flood == 2 for s in mesh.sent_of(TreeEvent))
    assert mesh.delivered == [(1, THREE)]


def test_a_copy_on_the_tree_is_acknowledged_again():
    mesh = tree([(0, 1)], 2, [1])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    [first] = mesh.sent_of(TreeEvent)
    assert mesh.inject(1, first.message, sender=0) is Drop.DUPLICATE
    assert len(mesh.sent_of(EventAck)) == 2
    assert mesh.delivered == [(1, THREE)]


def test_nobody_floods_the_same_event_twice():
    mesh = Mesh.full(6, FtCbr)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(5, NARROW)
    mesh.run(for_=1)
    mesh.kill(5)
    mesh.publish(0, THREE)
    mesh.run(for_=3)
    floods = [s for s in mesh.sent_of(TreeEvent) if s.message.flood]
    assert sorted((s.node, s.message.flood) for s in floods) == [(0, 2), (1, 1), (2, 1), (3, 1), (4, 1)]


def test_the_publisher_relays_a_search_for_a_child_that_came_to_it():
    # 2 was behind 1 and has come next to the publisher, which does not know what it wants.
    mesh = tree([(0, 1), (1, 2)], 3, [2])
    mesh.cut(1, 2)
    mesh.join(0, 2)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]
    floods = [s for s in mesh.sent_of(TreeEvent) if s.message.flood]
    assert [(s.node, s.message.flood) for s in floods] == [(1, 2), (0, 1)]


def test_who_overheard_the_last_hop_of_a_flood_relays_a_later_one():
    mesh = Mesh.line(3, FtCbr)
    mesh.add_event_type(Coupon)
    event = Publication(7, 1, THREE)
    assert mesh.inject(1, TreeEvent(event, frozenset([9]), 1), sender=0) is Drop.NOT_MINE
    assert mesh.inject(1, TreeEvent(event, frozenset([2]), 2), sender=0) is None
    mesh.run(for_=0.1)
    assert [(s.node, s.message.flood, set(s.message.children)) for s in mesh.sent_of(TreeEvent)] == [
        (1, 1, {2})
    ]


def test_who_has_forwarded_an_event_relays_the_first_flood_of_it_and_no_other():
    mesh = tree([(0, 1), (1, 2)], 3, [2])
    event = mesh.publish(0, THREE)
    mesh.run(for_=0.1)
    for _ in range(2):
        mesh.inject(1, TreeEvent(event, frozenset([9]), 2), sender=0)
        mesh.run(for_=0.1)
    assert [s.node for s in mesh.sent_of(TreeEvent) if s.message.flood] == [1]
    assert mesh.drops[-1].reason is Drop.DUPLICATE


def test_a_publisher_that_is_handed_its_own_event_acknowledges_it():
    # Each wants it of the next: the event goes once around.
    mesh = Mesh(3, FtCbr, [(0, 1), (1, 2), (2, 0)])
    mesh.add_event_type(Coupon)
    for parent, child in [(0, 1), (1, 2), (2, 0)]:
        mesh.inject(parent, Subscription(NARROW), sender=child)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert [(s.node, s.to) for s in mesh.sent_of(EventAck)] == [(1, 0), (2, 1), (0, 2)]
    assert all(s.message.flood == 0 for s in mesh.sent_of(TreeEvent))


def test_an_event_is_not_sent_back_to_the_child_that_it_came_from():
    mesh = tree([(0, 1), (1, 2)], 3, [2])
    mesh.inject(1, Subscription(NARROW), sender=0)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert [(s.node, set(s.message.children)) for s in mesh.sent_of(TreeEvent)] == [(0, {1}), (1, {2})]


def test_an_event_forgotten_before_its_children_answered_is_told():
    mesh = Mesh(2, partial(FtCbr, parameters=FtCbrParameters(unacked=1)), [(0, 1)])
    mesh.add_event_type(Coupon)
    mesh.inject(0, Subscription(NARROW), sender=1)
    mesh.cut(0, 1)
    first, second = mesh.publish(0, THREE), mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert [(d.message.publication_id, d.reason) for d in mesh.drops] == [(first.id, Drop.TABLE_FULL)]
    assert [s.message.publication_id for s in mesh.sent_of(TreeEvent) if s.message.flood] == [second.id]


def test_the_death_of_a_relay_between_renewals_is_survived():
    mesh = tree([(0, 1), (1, 2), (0, 3), (3, 2)], 4, [2])
    parent = next(s.to for s in mesh.sent if s.node == 2 and s.to >= 0)
    mesh.kill(parent)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    # The flood looks for the dead relay, not for the subscriber behind it, which nobody at 0 knows.
    assert mesh.delivered == []
    mesh.run(for_=15 + 7)
    mesh.publish(0, THREE)
    mesh.run(for_=2)
    assert mesh.delivered == [(2, THREE)]


def deliveries_under_loss(router):
    mesh = Mesh.grid(4, 3, router, links=LinkModel(loss=0.2, jitter=0.01), seed=1)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(11, NARROW)
    mesh.run(for_=20)
    for _ in range(100):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert len(mesh.deliveries) == len({d.publication.id for d in mesh.deliveries})
    return len(mesh.deliveries)


def test_with_one_broadcast_in_five_lost_the_floods_save_most_of_what_cbr_loses():
    plain, tolerant = deliveries_under_loss(Cbr), deliveries_under_loss(FtCbr)
    assert 100 - tolerant < (100 - plain) / 2
