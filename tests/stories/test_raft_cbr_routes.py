"""Stories of RAFT-CBR: failed links, detours, custody and long chains."""

from functools import partial

from raft_mesh import THREE, line, network, numbers, raft, unnoticing

from roamcast.routing.cbr.raft.messages import (
    Ack,
    Nack,
    Ping,
    SequenceGap,
    XcastEvent,
)
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.dsdv.messages import DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram
from roamcast.wire.message import unwrap


def test_an_event_goes_around_a_link_that_has_broken():
    # 0 - 1 - 3, and 2 beside 1 and 3.
    mesh = network(4, [(0, 1), (1, 2), (1, 3), (2, 3)], [3], router=unnoticing)
    mesh.cut(1, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.2)
    assert numbers(mesh, 3) == [1]
    assert mesh.sent_of(Ping) == []


def test_a_broker_that_found_no_way_delivers_when_there_is_one_although_the_publisher_has_gone():
    mesh = line(4, [3], router=unnoticing)
    mesh.cut(2, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=0.1)
    mesh.kill(0)
    mesh.run(for_=3)
    mesh.join(2, 3)
    mesh.run(for_=4)
    assert numbers(mesh, 3) == [1]
    assert mesh.routers[2].custody.waiting == {}


def test_a_broker_gives_up_what_nobody_can_be_given():
    mesh = line(4, [3], router=unnoticing)
    mesh.cut(2, 3)
    mesh.publish(0, THREE)
    mesh.run(for_=60)
    assert mesh.routers[2].custody.waiting == {}
    # Given up, or left to the routing below once that has noticed that no route is left.
    assert mesh.drop_counts()[Drop.NO_ROUTE] >= 1 or 3 in mesh.routers[2].unicast.held


def test_the_publisher_tries_a_failed_link_again_at_once_and_does_not_wait_for_the_next_ping():
    mesh = line(2, [1], router=unnoticing)
    mesh.cut(0, 1)
    mesh.publish(0, THREE)
    mesh.run(for_=0.15)
    mesh.join(0, 1)
    mesh.run(for_=1)
    assert numbers(mesh, 1) == [1]
    assert mesh.sent_of(Ping) == []


def test_a_broker_without_a_way_hands_the_event_back_to_the_node_it_came_from():
    # 0 - 1 - 2 - 3 - 4: routes to 4 lead over 3 when 4 has walked from 3 to 2.
    mesh = line(5, [4], router=unnoticing)
    mesh.join(2, 4)
    mesh.run(for_=0.01)
    mesh.inject(
        2, DsdvUpdate((DsdvEntry(77, 1, 2),)), sender=4
    )  # 2 has heard 4, and knows no route over it yet
    mesh.cut(3, 4)
    assert mesh.routers[2].unicast.next_hop(4) == 3
    mesh.publish(0, THREE)
    mesh.run(for_=0.05)
    assert numbers(mesh, 4) == [1]


def test_an_event_that_a_broker_keeps_grows_older():
    mesh = line(3, [2], router=unnoticing)
    mesh.cut(1, 2)
    published = mesh.now
    mesh.publish(0, THREE)
    mesh.run(for_=5)
    tries = [sent for sent in mesh.sent_of(XcastEvent) if (sent.node, sent.to) == (1, 2)]
    assert len(tries) > 3
    assert all(abs(sent.message.age / 1000 - (sent.time - published)) < 0.1 for sent in tries)


def test_who_is_further_than_the_chain_may_be_long_is_sent_events_alone():
    p = raft.keywords["parameters"]
    mesh = line(6, [1, 2, 3, 5], router=partial(RaftCbr, parameters=p.model_copy(update={"chain_limit": 2})))
    for _ in range(3):
        mesh.publish(0, THREE)
        mesh.run(for_=2)
    assert sorted(mesh.delivered, key=lambda got: got[0]) == [
        (node, THREE) for node in (1, 2, 3, 5) for _ in range(3)
    ]
    chains = {len(sent.message.chain) for sent in mesh.sent if isinstance(sent.message, XcastEvent)}
    assert chains == {1, 2}
    alone = [sent.message for sent in mesh.sent if isinstance(sent.message, Datagram)]
    events = [each for each in alone if isinstance(each.payload, XcastEvent)]
    assert {each.destination for each in events} == {3, 5}
    assert all(each.payload.chain == (0, 1) for each in events)
    assert not [drop for drop in mesh.drops if drop.reason is Drop.HOP_LIMIT]


def test_a_request_without_a_route_goes_to_the_neighbour_that_the_event_came_from():
    mesh = line(3, [2])
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    request = Nack(0, 2, (), 1, (SequenceGap(2, 2),), 1)
    assert mesh.routers[2].hint(request, 0, ()) == 1
    assert mesh.routers[2].hint(request, 0, (1,)) is None
    assert mesh.routers[2].hint(THREE, 0, ()) is None


def test_one_copy_serves_two_subscribers_whose_equally_short_ways_can_be_shared():
    mesh = network(5, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4)], [3, 4])
    mesh.routers[0].unicast.table.routes[4].hop = 2
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert [s.to for s in mesh.sent_of(XcastEvent) if s.node == 0] == [1]
    assert sorted(d.node for d in mesh.deliveries) == [3, 4]


def test_an_acknowledgement_goes_back_over_the_link_that_the_event_came_by():
    mesh = network(3, [(0, 1), (0, 2), (1, 2)], [1])
    mesh.routers[1].unicast.table.routes[0].hop = 2
    mesh.sent.clear()
    mesh.publish(0, THREE)
    mesh.run(for_=0.5)
    assert [s.to for s in mesh.sent if isinstance(unwrap(s.message), Ack)] == [0]
