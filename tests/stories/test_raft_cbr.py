"""Stories of RAFT-CBR: explicit multicast, requests for missing events, pings."""

from functools import partial

from raft_mesh import EVERYTHING, NARROW, SEVEN, THREE, Coupon, deafen, line, network, numbers, raft

from roamcast.routing.cbr.raft.messages import (
    HIGHEST,
    LOWEST,
    Ack,
    Nack,
    Ping,
    SequenceGap,
    Subscribe,
    SubscribeAck,
    XcastEvent,
    first_version,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import LinkModel, Mesh


def test_a_subscription_is_sent_until_the_publisher_says_that_it_knows():
    mesh = line(3, [])
    hear_again = deafen(mesh, 2, SubscribeAck)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=3.5)
    assert len([s for s in mesh.sent_of(Subscribe) if s.node == 2]) >= 3
    hear_again()
    mesh.run(for_=2)
    result = len(mesh.sent_of(Subscribe))
    mesh.run(for_=60)
    assert len(mesh.sent_of(Subscribe)) == result


def test_an_event_is_sent_once_over_each_hop_and_acknowledged_in_one_message():
    # 0 - 1 - 2 with the subscribers 3 and 4 behind 2.
    mesh = network(5, [(0, 1), (1, 2), (2, 3), (2, 4)], [3, 4])
    mesh.publish(0, THREE)
    mesh.publish(0, SEVEN)
    mesh.run(for_=1)
    assert sorted(mesh.delivered, key=lambda d: d[0]) == [(3, THREE), (4, THREE)]
    assert sorted((s.node, s.to) for s in mesh.sent_of(XcastEvent)) == [(0, 1), (1, 2), (2, 3), (2, 4)]
    assert [(s.node, s.to) for s in mesh.sent_of(Ack)].count((2, 1)) == 1
    assert mesh.routers[0].publishing.events == {}


def test_a_missed_event_is_asked_for_and_served_by_the_cache_of_a_broker():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    hear_again()
    sent_by_publisher = len([s for s in mesh.sent_of(XcastEvent) if s.node == 0])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]
    assert len([s for s in mesh.sent_of(XcastEvent) if s.node == 0]) == sent_by_publisher + 1
    assert {s.to for s in mesh.sent_of(Nack)} == {2}


def test_when_no_cache_has_it_the_publisher_repeats_it():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 1, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    hear_again()
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]
    assert [s.node for s in mesh.sent_of(Nack)] == [3, 2, 1]


def test_when_the_caches_have_expired_the_publisher_repeats_it():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    pong = deafen(mesh, 3, Ping)
    mesh.publish(0, THREE)
    mesh.run(for_=30)
    hear_again(), pong()
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1, 2]


def test_a_ping_wakes_a_subscriber_that_does_not_know_what_it_missed():
    mesh = line(4, [3])
    hear_again = deafen(mesh, 3, XcastEvent)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    hear_again()
    mesh.run(for_=4.9)
    assert mesh.sent_of(Ping) == []
    mesh.run(for_=1)
    assert numbers(mesh, 3) == [1]
    assert mesh.sent_of(Ping)
    pings = len(mesh.sent_of(Ping))
    mesh.run(for_=60)
    assert len(mesh.sent_of(Ping)) == pings


def test_a_lost_acknowledgement_is_repeated_after_a_ping_and_nothing_is_delivered_twice():
    mesh = line(3, [2])
    hear_again = deafen(mesh, 0, Ack)
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    hear_again()
    mesh.run(for_=6)
    assert numbers(mesh, 2) == [1]
    assert mesh.routers[0].publishing.events == {}


def test_what_was_addressed_is_delivered_although_the_interest_has_changed():
    mesh = line(3, [2])
    mesh.cut(1, 2)
    mesh.publish(0, THREE)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=30)
    mesh.join(1, 2)
    mesh.run(for_=30)
    assert numbers(mesh, 2) == [1]
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    assert numbers(mesh, 2) == [1]


def test_a_subscriber_that_left_for_long_gets_everything_in_order_when_it_returns():
    mesh = line(4, [3])
    mesh.cut(2, 3)
    for _ in range(40):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert mesh.delivered == []
    mesh.join(2, 3)
    mesh.run(for_=60)
    assert numbers(mesh, 3) == list(range(1, 41))


def test_no_more_than_a_window_is_repeated_before_it_is_acknowledged():
    mesh = line(2, [1])
    hear_again = deafen(mesh, 1, XcastEvent)
    for _ in range(30):
        mesh.publish(0, THREE)
    mesh.run(for_=1)
    deafen(mesh, 0, Ack)
    hear_again()
    mesh.sent.clear()
    nothing = first_version(mesh.routers[1].incarnation)
    mesh.inject(0, Datagram(1, 0, 9, Nack(0, 1, (), nothing, (SequenceGap(LOWEST, HIGHEST),), 1)), sender=1)
    mesh.run(for_=0.9)
    window = mesh.routers[0].parameters.window
    assert len([s for s in mesh.sent_of(XcastEvent) if s.node == 0]) == window < 30


def test_two_publishers_are_two_orders():
    mesh = Mesh.line(3, raft)
    mesh.advertise(0, EVERYTHING)
    mesh.advertise(2, NARROW)
    mesh.run(for_=20)
    mesh.subscribe(1, EVERYTHING)
    mesh.run(for_=3)
    for _ in range(3):
        mesh.publish(0, SEVEN)
        mesh.publish(2, THREE)
    mesh.run(for_=3)
    assert [d.publication.sequence for d in mesh.deliveries if d.publication.publisher == 0] == [1, 2, 3]
    assert [d.publication.sequence for d in mesh.deliveries if d.publication.publisher == 2] == [1, 2, 3]


def test_a_publisher_short_of_room_gives_up_the_oldest_and_goes_on():
    parameters = RaftCbrParameters(
        unacknowledged_events=3, dsdv=RaftDsdvParameters(period=3, settling=0.0, link_feedback=True)
    )
    small = partial(RaftCbr, parameters=parameters)
    mesh = Mesh.line(2, small)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=10)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=5)
    mesh.cut(0, 1)
    for _ in range(10):
        mesh.publish(0, THREE)
    mesh.run(for_=5)
    mesh.join(0, 1)
    mesh.run(for_=40)
    assert numbers(mesh, 1)[-3:] == [8, 9, 10]
    assert mesh.routers[0].publishing.events == {}
    assert mesh.drop_counts()[Drop.TABLE_FULL] == 7


def test_copies_and_disorder_are_put_right():
    mesh = line(4, [1, 3], links=LinkModel(duplicate=0.5, jitter=0.3), seed=4)
    for _ in range(30):
        mesh.publish(0, THREE)
        mesh.run(for_=0.1)
    mesh.run(for_=60)
    assert numbers(mesh, 1) == numbers(mesh, 3) == list(range(1, 31))


def test_subscribing_and_unsubscribing_in_one_moment_is_one_message():
    mesh = line(2, [1])
    before = len(mesh.sent_of(Subscribe))
    mesh.unsubscribe(1, NARROW)
    mesh.subscribe(1, Coupon.zone == 4)
    mesh.run(for_=5)
    assert len(mesh.sent_of(Subscribe)) == before + 1
