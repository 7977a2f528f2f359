"""Stories of CBR with covering and most-covering."""

from cbr_mesh import (
    EVERYTHING,
    FIGURE_2,
    NARROW,
    THREE,
    WIDE,
    Coupon,
    covering,
    line,
    most_covering,
    next_hop,
    publish,
    subscribed_through,
    subscriptions_to,
)

from roamcast.routing.cbr.messages import MostCovering, Subscription, TreeEvent
from roamcast.testing import Mesh


def test_a_covered_subscription_is_quenched():
    mesh = line(3, covering)
    mesh.subscribe(2, WIDE)
    mesh.run(for_=1)
    before = len(subscriptions_to(mesh, 0))
    mesh.subscribe(1, NARROW)
    mesh.run(for_=1)
    assert len(subscriptions_to(mesh, 0)) == before


def test_without_covering_it_is_sent():
    mesh = line(3)
    mesh.subscribe(2, WIDE)
    mesh.run(for_=1)
    before = len(subscriptions_to(mesh, 0))
    mesh.subscribe(1, NARROW)
    mesh.run(for_=1)
    assert len(subscriptions_to(mesh, 0)) == before + 1


def test_what_a_lapsed_cover_held_back_flows_again():
    mesh = line(3, covering)
    mesh.subscribe(2, WIDE)
    mesh.run(for_=1)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=20)
    assert {s.message.pattern for s in subscriptions_to(mesh, 0)} == {WIDE}
    mesh.unsubscribe(2, WIDE)
    mesh.run(for_=15 + 7 + 1)
    since = mesh.now
    mesh.run(for_=8)
    assert {s.message.pattern for s in subscriptions_to(mesh, 0, since)} == {NARROW}
    mesh.run(for_=15)
    mesh.publish(0, Coupon(zone=1))
    publish(mesh)
    assert mesh.delivered == [(1, THREE)]


def test_equal_subscriptions_of_two_children_do_not_quench_each_other_for_ever():
    mesh = Mesh(4, covering, [(0, 1), (1, 2), (1, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.subscribe(3, NARROW)
    for _ in range(10):
        mesh.run(for_=7)
        publish(mesh)
    assert len(mesh.deliveries) == 20


def test_a_cover_that_goes_another_way_covers_nothing():
    # The wide subscription comes from the only next hop to the publisher.
    mesh = line(3, covering)
    mesh.subscribe(1, WIDE)
    mesh.inject(2, Subscription(WIDE), sender=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    assert [s.message.pattern for s in subscriptions_to(mesh, 1)] == [NARROW]


def test_a_cover_that_has_not_been_sent_this_way_covers_nothing():
    # The wide subscription went over 1. A shorter route opens over 2, which does not know it.
    mesh = Mesh(5, covering, [(0, 4), (4, 1), (1, 3), (2, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(3, WIDE)
    mesh.run(for_=1)
    mesh.join(0, 2)
    while next_hop(mesh, 3) == 1:
        mesh.run(for_=0.01)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=0.01)
    assert [s.message.pattern for s in subscriptions_to(mesh, 2)] == [NARROW]
    assert {s.message.pattern for s in subscriptions_to(mesh, 1)} == {WIDE}


def test_what_most_covering_tells_does_not_overflow_the_links_queue():
    # All at once, fifty beacons would fill the queue of the link and what comes after them would be lost.
    mesh = line(3, most_covering)
    for zone in range(50):
        mesh.subscribe(2, Coupon.zone == zone)
    mesh.run(for_=20)
    since = mesh.now
    mesh.run(for_=7)
    sent = [s for s in mesh.sent if s.node == 1 and s.time >= since and type(s.message) is MostCovering]
    assert len({s.message.pattern for s in sent}) == 50
    assert len({s.time for s in sent}) == len(sent)


def figure_2(edges, router):
    mesh = Mesh(6, router, edges)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=40)
    mesh.subscribe(5, NARROW)
    mesh.run(for_=1)
    return mesh


def test_the_shortest_way_makes_the_tree_larger():
    mesh = figure_2(FIGURE_2, covering)
    assert subscribed_through(mesh, 5) == [4]


def test_most_covering_attaches_to_the_tree_that_exists():
    mesh = figure_2(FIGURE_2, most_covering)
    assert subscribed_through(mesh, 5) == [3]
    publish(mesh)
    assert sorted(node for node, _ in mesh.delivered) == [3, 5]
    assert len(mesh.sent_of(TreeEvent)) == 4


def test_beyond_the_allowed_detour_the_shortest_way_is_taken():
    # One relay more on the tree: 3 is now four hops from the publisher, the way over 4 is one: 4 > 1 + 2.
    longer = [(0, 1), (1, 2), (2, 6), (6, 3), (0, 4), (4, 5), (3, 5)]
    mesh = Mesh(7, most_covering, longer)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.cut(3, 5)
    mesh.run(for_=40)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.join(3, 5)
    mesh.run(for_=7)
    assert any(s.node == 3 and s.message.hops == 4 for s in mesh.sent_of(MostCovering))
    mesh.subscribe(5, NARROW)
    mesh.run(for_=1)
    assert {s.to for s in mesh.sent_of(Subscription) if s.node == 5} == {4}


def test_a_ring_of_mutual_preference_falls_apart():
    # All three are next to the publisher and to each other: nothing may keep their subscriptions among them.
    mesh = Mesh.full(4, most_covering, seed=3)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    for node in (1, 2, 3):
        mesh.subscribe(node, NARROW)
    mesh.run(for_=60)
    for _ in range(20):
        mesh.publish(0, THREE)
        mesh.run(for_=7)
    assert len(mesh.deliveries) == 60
