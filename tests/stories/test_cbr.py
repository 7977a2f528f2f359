"""Stories of CBR: leases, trees, covering and most-covering."""

from functools import partial

from cbr_mesh import (
    DIAMOND,
    EVERYTHING,
    FIGURE_2,
    NARROW,
    SEVEN,
    THREE,
    Coupon,
    line,
    publish,
    settled,
    subscribed_through,
    subscriptions_to,
)

from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Advert, Subscription, TreeEvent
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.routing.router import Drop
from roamcast.testing import Mesh


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
    [advert] = mesh.routers[8].adverts.routes(mesh.now)
    assert [route.hops for route in advert.routes] == [3, 3]


def test_a_subscription_made_before_the_advertisement_flows_with_the_next_renewal():
    mesh = Mesh.line(3, Cbr)
    mesh.subscribe(2, NARROW)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=15)
    publish(mesh)
    assert mesh.delivered == [(2, THREE)]


def test_what_is_not_renewed_lapses_hop_by_hop():
    mesh = line(4)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=10)
    mesh.unsubscribe(3, NARROW)
    mesh.run(for_=3 * 15 + 1)
    publish(mesh)
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
    publish(mesh)
    assert mesh.delivered == [(2, THREE)]


def test_a_relay_that_dies_between_renewals_loses_events_until_another_way_is_learnt():
    mesh = settled(DIAMOND)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.kill(1)
    publish(mesh)
    assert mesh.delivered == []
    mesh.run(for_=15 + 7)
    publish(mesh)
    assert mesh.delivered == [(3, THREE)]


def test_with_link_feedback_the_other_way_is_taken_at_once():
    mesh = settled(DIAMOND, link_feedback=True)
    mesh.kill(1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    publish(mesh)
    assert mesh.delivered == [(3, THREE)]
    assert subscribed_through(mesh, 3) == [1, 2]


def test_a_subscription_that_the_link_gave_up_on_does_not_cover_itself():
    # 3 passes on what 4 wants. Its shortest route, over 1, is lost; its own table entry does not count.
    mesh = settled([*DIAMOND, (3, 4)], link_feedback=True, covering=True)
    mesh.kill(1)
    mesh.subscribe(4, NARROW)
    mesh.run(for_=1)
    assert subscribed_through(mesh, 3) == [1, 2]
    publish(mesh)
    assert mesh.delivered == [(4, THREE)]


def test_a_subscription_that_the_link_gave_up_on_does_not_go_back_to_its_child():
    # The only other route from 2 is over 3, where the subscription came from.
    mesh = settled([(0, 1), (1, 2), (2, 3), (3, 0)], link_feedback=True)
    mesh.kill(1)
    mesh.inject(2, Subscription(NARROW), sender=3)
    mesh.run(for_=1)
    assert subscribed_through(mesh, 2) == [1]


def test_what_nobody_wants_any_more_takes_no_other_way():
    mesh = settled(DIAMOND, link_feedback=True)
    mesh.kill(1)
    mesh.subscribe(3, NARROW)
    mesh.unsubscribe(3, NARROW)
    mesh.run(for_=1)
    assert subscribed_through(mesh, 3) == [1]


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
    assert subscribed_through(mesh, 5) == [3, 4]


def test_a_renewal_is_over_before_the_next_begins():
    mesh = settled([(0, 1)], pace=1.0)
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
    publish(mesh)
    assert mesh.delivered == []
    assert mesh.drops[-1].reason is Drop.UNWANTED


def test_two_ways_to_one_subscriber_deliver_once():
    mesh = Mesh(4, Cbr, DIAMOND)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    mesh.subscribe(3, NARROW)
    mesh.run(for_=1)
    mesh.inject(2, Subscription(NARROW), sender=3)
    mesh.run(for_=1)
    publish(mesh)
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
    publish(mesh)
    assert mesh.delivered == [(2, THREE)]


def test_a_publisher_that_moves_is_found_again():
    mesh = line(5)
    mesh.subscribe(4, NARROW)
    mesh.run(for_=10)
    mesh.cut(0, 1)
    mesh.join(0, 3)
    mesh.run(for_=30)
    publish(mesh)
    assert mesh.delivered == [(4, THREE)]
    assert [s.node for s in mesh.sent_of(TreeEvent)] == [0, 3]
