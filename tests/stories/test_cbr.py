"""Stories of CBR: leases, trees, covering and most-covering."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Advert, MostCovering, Subscription, TreeEvent
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.routing.router import Drop
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
WIDE = Coupon.zone < 5
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

covering = partial(Cbr, parameters=CbrParameters(covering=True))
most_covering = partial(Cbr, parameters=CbrParameters(covering=True, most_covering=True))


def line(nodes, router=Cbr):
    mesh = Mesh.line(nodes, router)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    return mesh


def subscriptions_to(mesh, node, since=0.0):
    return [s for s in mesh.sent_of(Subscription) if s.to == node and s.time >= since]


def next_hop(mesh, node):
    """The neighbour over which `node` reaches the only publisher."""
    [offer] = mesh.routers[node].adverts.routes(mesh.now)
    return offer.ways[0].neighbour


def test_an_event_goes_down_the_way_that_a_subscription_came_up():
    mesh = line(5)
    mesh.subscribe(4, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert mesh.delivered == [(4, THREE)]
    assert [(s.node, set(s.message.children)) for s in mesh.sent_of(TreeEvent)] == [
        (0, {1}), (1, {2}), (2, {3}), (3, {4}),
    ]  # fmt: skip


def test_an_advertisement_is_flooded_once_and_tells_the_distance():
    mesh = Mesh.grid(3, 3, Cbr)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=0.1)
    assert len(mesh.sent_of(Advert)) == 9
    [offer] = mesh.routers[8].adverts.routes(mesh.now)
    assert [way.hops for way in offer.ways] == [3, 3]


def test_a_subscription_made_before_the_advertisement_flows_with_the_next_renewal():
    mesh = Mesh.line(3, Cbr)
    mesh.subscribe(2, NARROW)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=15)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_what_is_not_renewed_lapses_hop_by_hop():
    mesh = line(4)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=10)
    mesh.unsubscribe(3, NARROW)
    mesh.run(for_=3 * 15 + 1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.sent_of(TreeEvent) == []
    assert {d.reason for d in mesh.drops if d.message.publication_id > 0} <= {Drop.EXPIRED, Drop.UNWANTED}


def test_a_dead_publisher_is_forgotten_although_neighbours_repeat_its_advertisement():
    mesh = Mesh.grid(3, 3, Cbr)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=30)
    mesh.kill(0)
    mesh.run(for_=15 + 4 * 7 + 15)
    assert all(mesh.routers[n].adverts.routes(mesh.now) == [] for n in range(1, 9))


def test_a_publisher_born_again_outdoes_the_serials_of_its_earlier_life():
    mesh = line(3)
    mesh.run(for_=100)
    mesh.kill(0)
    mesh.run(for_=1)
    mesh.revive(0)
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=30)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_a_relay_that_dies_between_renewals_loses_events_until_another_way_is_learnt():
    mesh = Mesh(4, Cbr, [(0, 1), (0, 2), (1, 3), (2, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.kill(1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == []
    mesh.run(for_=15 + 7)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)]


def test_with_link_feedback_the_other_way_is_taken_at_once():
    feedback = partial(Cbr, parameters=CbrParameters(link_feedback=True))
    mesh = Mesh(4, feedback, [(0, 1), (0, 2), (1, 3), (2, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    mesh.kill(1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)]
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 3] == [1, 2]


feedback_with_covering = partial(Cbr, parameters=CbrParameters(link_feedback=True, covering=True))


def test_a_subscription_that_the_link_gave_up_on_does_not_cover_itself():
    # 3 passes on what 4 wants. Its nearest way, over 1, has gone; the wish in its own table is no excuse.
    mesh = Mesh(5, feedback_with_covering, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    mesh.kill(1)
    mesh.subscribe(4, NARROW)
    mesh.run(for_=1)
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 3] == [1, 2]
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(4, THREE)]


def test_a_subscription_that_the_link_gave_up_on_does_not_go_back_to_its_child():
    # The only other way from 2 leads over 3, where the wish came from.
    feedback = partial(Cbr, parameters=CbrParameters(link_feedback=True))
    mesh = Mesh(4, feedback, [(0, 1), (1, 2), (2, 3), (3, 0)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    mesh.kill(1)
    mesh.inject(2, Subscription(NARROW), sender=3)
    mesh.run(for_=1)
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 2] == [1]


def test_what_nobody_wants_any_more_takes_no_other_way():
    feedback = partial(Cbr, parameters=CbrParameters(link_feedback=True))
    mesh = Mesh(4, feedback, [(0, 1), (0, 2), (1, 3), (2, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    mesh.kill(1)
    mesh.subscribe(3, NARROW)
    mesh.unsubscribe(3, NARROW)
    mesh.run(for_=1)
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 3] == [1]


def test_a_branch_of_the_tree_that_the_link_gave_up_on_is_not_tried_again():
    everything = CbrParameters(link_feedback=True, covering=True, most_covering=True)
    mesh = Mesh(6, partial(Cbr, parameters=everything), FIGURE_2)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=40)
    mesh.kill(3)
    mesh.subscribe(5, NARROW)
    mesh.run(for_=1)
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 5] == [3, 4]


def test_a_renewal_is_over_before_the_next_begins():
    mesh = Mesh(2, partial(Cbr, parameters=CbrParameters(pace=1.0)), [(0, 1)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    for zone in range(50):
        mesh.subscribe(1, Coupon.zone == zone)
    mesh.run(for_=28)
    since = mesh.now
    mesh.run(for_=7)
    renewed = [s.message.pattern for s in subscriptions_to(mesh, 0, since)]
    assert len(renewed) == len(set(renewed)) == 50


def test_a_subscriber_delivers_only_what_it_wants_now():
    mesh = line(3)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.unsubscribe(2, NARROW)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == []
    assert mesh.drops[-1].reason is Drop.UNWANTED


def test_two_ways_to_one_subscriber_deliver_once():
    mesh = Mesh(4, Cbr, [(0, 1), (0, 2), (1, 3), (2, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.inject(2, Subscription(NARROW), sender=3)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(3, THREE)]
    assert mesh.drop_counts()[Drop.DUPLICATE] >= 1


def test_two_publishers_with_overlapping_offers_both_get_the_subscription():
    mesh = Mesh.line(5, Cbr)
    mesh.advertise(0, Coupon.zone < 5)
    mesh.advertise(4, Coupon.zone > 2)
    mesh.run(for_=1)
    mesh.subscribe(2, EVERYTHING)
    mesh.run(for_=1)
    mesh.publish(0, Coupon(zone=1))
    mesh.publish(4, SEVEN)
    mesh.run(for_=1)
    assert sorted(mesh.delivered, key=lambda d: d[1]["zone"]) == [(2, Coupon(zone=1)), (2, SEVEN)]


def test_a_subscription_stays_away_from_publishers_that_offer_something_else():
    mesh = Mesh.line(5, Cbr)
    mesh.advertise(0, Coupon.zone < 2)
    mesh.advertise(4, Coupon.zone > 2)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    assert subscriptions_to(mesh, 1) == []
    assert len(subscriptions_to(mesh, 3)) == 1


def test_a_subscriber_that_leaves_and_returns_is_served_again():
    mesh = line(3)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.cut(1, 2)
    mesh.run(for_=40)
    mesh.publish(0, THREE)
    mesh.join(1, 2)
    mesh.run(for_=15)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, THREE)]


def test_a_publisher_that_moves_is_found_again():
    mesh = line(5)
    mesh.subscribe(4, NARROW)
    mesh.run(for_=10)
    mesh.cut(0, 1)
    mesh.join(0, 3)
    mesh.run(for_=30)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(4, THREE)]
    assert [s.node for s in mesh.sent_of(TreeEvent)] == [0, 3]


# Covering.


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
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.delivered == [(1, THREE)]


def test_equal_subscriptions_of_two_children_do_not_quench_each_other_for_ever():
    mesh = Mesh(4, covering, [(0, 1), (1, 2), (1, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(2, NARROW)
    mesh.subscribe(3, NARROW)
    for _ in range(10):
        mesh.run(for_=7)
        mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert len(mesh.deliveries) == 20


def test_a_cover_that_goes_another_way_covers_nothing():
    # The wide wish comes from the node that is our only way to the publisher.
    mesh = line(3, covering)
    mesh.subscribe(1, WIDE)
    mesh.inject(2, Subscription(WIDE), sender=1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    assert [s.message.pattern for s in subscriptions_to(mesh, 1)] == [NARROW]


def test_a_cover_that_has_not_been_sent_this_way_covers_nothing():
    # The wide wish went over 1. A shorter way opens over 2, which has not heard of it.
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
    told = [s for s in mesh.sent if s.node == 1 and s.time >= since and type(s.message) is MostCovering]
    assert len({s.message.pattern for s in told}) == 50
    assert len({s.time for s in told}) == len(told)


# Most-covering: figure 2 of the paper. The publisher is 0; the tree to 3 goes over 1 and 2. The newcomer 5 is
# next to 3, and next to 4 which lies on its shortest way.

FIGURE_2 = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (3, 5)]


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
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 5] == [4]


def test_most_covering_attaches_to_the_tree_that_exists():
    mesh = figure_2(FIGURE_2, most_covering)
    assert [s.to for s in mesh.sent_of(Subscription) if s.node == 5] == [3]
    mesh.publish(0, THREE)
    mesh.run(for_=1)
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
