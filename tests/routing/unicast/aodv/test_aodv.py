"""Stories of AODV, each about one rule of RFC 3561 or of ns-2."""

from itertools import pairwise

import pytest

from roamcast.routing.router import BROADCAST, Drop, Publication
from roamcast.routing.unicast.aodv.messages import RouteError, RouteReply, RouteRequest, Unreachable
from roamcast.routing.unicast.aodv.parameters import NS2, AodvParameters
from roamcast.routing.unicast.aodv.routes import AodvRouteTable
from roamcast.routing.unicast.copies import AodvUnicast, Copy
from roamcast.testing import Mesh, lose

from ..histories import News


def line(nodes, **parameters):
    return Mesh.line(nodes, aodv(**parameters))


def aodv(**parameters):
    return lambda host: AodvUnicast(host, AodvParameters(**parameters))


def send(mesh, origin, to, sequence=1):
    mesh.add_event_type(News)
    mesh.routers[origin].unicast.send(Copy(Publication(origin, sequence, News())), to)


def asked(mesh, node):
    return [(sent.time, sent.message.ttl) for sent in mesh.sent_of(RouteRequest) if sent.node == node]


def test_rings_grow_then_everyone_is_asked_three_times_then_it_is_given_up():
    mesh = line(2)
    send(mesh, 0, 7)
    mesh.run(for_=60)
    times, rings = zip(*asked(mesh, 0), strict=True)
    assert rings == (1, 3, 5, 7, 35, 35, 35)
    waits = [b - a for a, b in pairwise(times)]
    assert waits == pytest.approx([0.24, 0.40, 0.56, 0.72, 2.8, 5.6], abs=1e-6)
    (given_up,) = [drop for drop in mesh.drops if drop.reason is Drop.NO_ROUTE]
    assert given_up.time == pytest.approx(times[-1] + 11.2)


def test_in_ns2_everyone_is_asked_at_once_waits_end_at_half_seconds_and_silence_follows():
    # As traced in ns-2: a destination never known is asked of everyone, four times.
    mesh = line(2, **NS2)
    mesh.run(for_=0.1)
    send(mesh, 0, 7)
    mesh.run(for_=20)
    times, rings = zip(*asked(mesh, 0), strict=True)
    assert rings == (30, 30, 30, 30)
    assert all(time % 0.5 == pytest.approx(0) for time in times[1:])
    (given_up,) = [drop for drop in mesh.drops if drop.reason is Drop.NO_ROUTE]
    send(mesh, 0, 7)
    mesh.run(for_=given_up.time + 9.9 - mesh.now)
    assert len(asked(mesh, 0)) == len(rings)
    mesh.run(for_=0.7)
    assert asked(mesh, 0)[-1][1] == 30


def test_in_ns2_rings_grow_from_the_last_distance_of_a_destination_once_known():
    mesh = line(4, **NS2)
    mesh.run(for_=0.1)
    send(mesh, 0, 3)
    mesh.run(for_=1)
    mesh.kill(3)
    mesh.run(for_=20)
    before = len(asked(mesh, 0))
    send(mesh, 0, 3, 2)
    mesh.run(for_=3)
    assert [ring for _, ring in asked(mesh, 0)[before:]][:3] == [5, 7, 30]


def test_a_destination_once_known_is_asked_for_two_hops_beyond_its_last_distance():
    mesh = line(5, active_route_timeout=1, my_route_timeout=1)
    send(mesh, 0, 4)
    mesh.run(for_=10)
    before = len(asked(mesh, 0))
    send(mesh, 0, 4, 2)
    mesh.run(for_=1)
    assert asked(mesh, 0)[before][1] == 6
    assert len(mesh.deliveries) == 2


def test_a_node_that_knows_the_way_answers_and_the_request_goes_no_further():
    mesh = line(5, ttl_start=35)
    send(mesh, 1, 4)
    mesh.run(for_=2)
    mesh.sent.clear()
    send(mesh, 0, 4)
    mesh.run(for_=2)
    assert {sent.node for sent in mesh.sent_of(RouteRequest)} == {0}
    (reply,) = mesh.sent_of(RouteReply)
    assert (reply.node, reply.message.hops) == (1, 3)
    assert len(mesh.deliveries) == 2
    assert 0 in mesh.routers[1].unicast.routes.entries[4].precursors


def test_only_the_destination_answers_where_the_request_says_so():
    mesh = line(5, ttl_start=35, intermediate_replies=False)
    for origin in (1, 0):
        send(mesh, origin, 4)
        mesh.run(for_=2)
    assert {sent.node for sent in mesh.sent_of(RouteReply) if sent.message.hops == 0} == {4}
    assert len([sent for sent in mesh.sent_of(RouteReply) if sent.node == 4]) == 2


def test_a_gratuitous_reply_tells_the_destination_of_who_asked():
    mesh = line(5, ttl_start=35, gratuitous_replies=True)
    send(mesh, 1, 4)
    mesh.run(for_=2)
    assert mesh.routers[4].unicast.next_hop(0) is None
    send(mesh, 0, 4)
    mesh.run(for_=2)
    assert mesh.routers[4].unicast.next_hop(0) == 3


def test_own_numbers_are_counted_before_a_request_and_follow_what_was_asked():
    mesh = line(2, ttl_start=35)
    send(mesh, 0, 1)
    mesh.run(for_=1)
    mesh.inject(1, RouteRequest(0, 0, 1, 77, 1, 1000, 5, 3), sender=5)
    assert mesh.routers[1].unicast.exchange.sequence == 1000
    mesh.inject(1, RouteRequest(0, 0, 1, 78, 1, 40, 5, 4), sender=5)
    assert mesh.routers[1].unicast.exchange.sequence == 1000
    assert mesh.sent_of(RouteRequest)[0].message.origin_sequence == 1


def test_who_uses_a_broken_route_is_told_alone_and_asks_with_a_newer_number():
    mesh = line(6, local_repair="off", ttl_start=35)
    send(mesh, 0, 5)
    mesh.run(for_=2)
    mesh.sent.clear()
    mesh.cut(4, 5)
    send(mesh, 0, 5, 2)
    mesh.run(for_=1)
    errors = mesh.sent_of(RouteError)
    assert [(sent.node, sent.to) for sent in errors] == [(4, 3), (3, 2), (2, 1), (1, 0)]
    assert mesh.routers[0].unicast.next_hop(5) is None
    lost = errors[0].message.unreachable[0]
    send(mesh, 0, 5, 3)
    mesh.run(for_=1)
    assert mesh.sent_of(RouteRequest)[-1].message.destination_sequence == lost.sequence


def test_in_ns2_errors_are_broadcast_even_if_nobody_is_known_to_use_the_route():
    mesh = line(3, **NS2)
    send(mesh, 0, 1)
    mesh.run(for_=1)
    mesh.cut(0, 1)
    send(mesh, 0, 1, 2)
    mesh.run(for_=1)
    assert [sent.to for sent in mesh.sent_of(RouteError)] == [BROADCAST]


def test_near_the_destination_a_break_is_repaired_and_the_message_arrives():
    mesh = Mesh(6, aodv(), [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5)])
    mesh.join(3, 5)
    with mesh.fault(lose(to=4)):
        send(mesh, 0, 5)
        mesh.run(for_=3)
    mesh.cut(3, 5)
    mesh.sent.clear()
    send(mesh, 0, 5, 2)
    mesh.run(for_=3)
    assert len(mesh.deliveries) == 2
    assert all(sent.message.origin == 3 for sent in mesh.sent_of(RouteRequest))
    # The way around is longer: those before are told, and keep their routes.
    assert {sent.message.flags for sent in mesh.sent_of(RouteError)} <= {1}


def test_a_repair_that_fails_is_told_to_those_before():
    mesh = line(4)
    send(mesh, 0, 3)
    mesh.run(for_=3)
    mesh.cut(2, 3)
    send(mesh, 0, 3, 2)
    mesh.run(for_=5)
    assert [sent.node for sent in mesh.sent_of(RouteError)][:2] == [2, 1]
    assert mesh.routers[0].unicast.next_hop(3) is None
    assert [drop.reason for drop in mesh.drops if isinstance(drop.message, Copy)] == [Drop.NO_ROUTE]


def test_no_more_than_ten_requests_and_errors_leave_in_any_second():
    mesh = line(2)
    for stranger in range(100, 140):
        send(mesh, 0, stranger)
    mesh.run(for_=4)
    times = [time for time, _ in asked(mesh, 0)]
    assert len(times) >= 40
    assert all(late - early >= 1 - 1e-9 for early, late in zip(times, times[10:], strict=False))


def test_a_node_that_starts_anew_only_listens_until_others_have_given_up_what_it_forgot():
    mesh = line(3, ttl_start=35)
    send(mesh, 0, 2)
    mesh.run(for_=2)
    mesh.kill(1)
    mesh.revive(1)
    mesh.sent.clear()
    send(mesh, 2, 0, 5)
    mesh.run(for_=5)
    assert not [sent for sent in mesh.sent_of(RouteRequest) if sent.node == 1]
    mesh.run(for_=40)
    send(mesh, 2, 0, 6)
    mesh.run(for_=5)
    assert (0, 6) in [(d.node, d.publication.sequence) for d in mesh.deliveries]


def test_a_neighbour_whose_hellos_stop_is_gone():
    mesh = line(3, hello_interval=1, ttl_start=35)
    send(mesh, 0, 2)
    mesh.run(for_=5)
    assert mesh.routers[0].unicast.next_hop(2) == 1
    mesh.kill(1)
    mesh.run(for_=3)
    assert mesh.routers[0].unicast.next_hop(2) is None


def test_what_has_no_room_or_waits_too_long_is_let_go_with_its_reason():
    mesh = line(2, buffer=3, buffer_timeout=0.3)
    for sequence in range(1, 6):
        send(mesh, 0, 9, sequence)
    assert [drop.reason for drop in mesh.drops] == [Drop.TABLE_FULL] * 2
    mesh.run(for_=1)
    send(mesh, 0, 9, 6)
    assert [drop.reason for drop in mesh.drops if drop.reason is Drop.EXPIRED] == [Drop.EXPIRED] * 3


def test_a_reply_that_only_confirms_what_a_node_on_the_way_knows_still_reaches_who_asked():
    # Found by the swarm: the destination's neighbour knows it already, and swallowed every reply.
    mesh = line(4, ttl_start=35, intermediate_replies=False, active_route_timeout=15, my_route_timeout=6)
    send(mesh, 0, 3)
    mesh.run(for_=40)
    send(mesh, 3, 2, 5)
    mesh.run(for_=1)
    send(mesh, 0, 3, 2)
    mesh.run(for_=1)
    assert [d.publication.sequence for d in mesh.deliveries] == [1, 5, 2]


def forged(mesh, to, sender, destination, sequence):
    """An error that nobody sent, with a number that nobody gave."""
    mesh.routers[to].unicast.receive(RouteError(0, (Unreachable(destination, sequence),)), sender, -60.0)


def test_where_only_the_destination_answers_replies_that_confirm_a_route_cannot_be_swallowed():
    with pytest.raises(ValueError, match="cannot both be off"):
        AodvParameters(intermediate_replies=False, equal_replies=False)


def test_a_forged_number_bars_a_way_back_for_a_time_and_not_for_good():
    mesh = line(4)
    send(mesh, 3, 0)
    mesh.run(for_=5)
    assert [d.node for d in mesh.deliveries] == [0]
    forged(mesh, 1, 2, 3, 3 * 10**8)
    mesh.run(for_=25)  # the first way has lapsed
    send(mesh, 3, 0, 2)
    mesh.run(for_=25)
    assert len(mesh.deliveries) == 1  # node 1 takes every request of node 3 for old news
    mesh.run(for_=60)
    send(mesh, 3, 0, 3)
    mesh.run(for_=5)
    assert len(mesh.deliveries) == 2


def test_a_number_is_not_forgotten_while_neighbours_rely_on_its_route():
    routes = AodvRouteTable(8, 0.0, kept=50.0)
    routes.offer(7, 1, 2, 10, now=0.0, life=5.0)
    assert routes.live(7, 6.0) is None  # lapsed, and counted up
    assert routes.offer(7, 2, 3, 10, now=40.0, life=5.0) is None
    routes.relied_on(7, 50.0)
    assert routes.offer(7, 2, 3, 10, now=99.9, life=5.0) is None
    assert routes.offer(7, 2, 3, 10, now=100.0, life=5.0) is not None
    assert AodvRouteTable(8, 0.0).numbered(routes.entry(7), 1e9), "kept for ever, as in ns-2"


def test_in_ns2_who_repairs_a_route_that_was_never_down_asks_everyone():
    mesh = line(6, **NS2)
    send(mesh, 0, 5)
    mesh.run(for_=2)
    mesh.cut(4, 5)
    mesh.sent.clear()
    send(mesh, 0, 5, 2)
    mesh.run(for_=0.3)
    assert [sent.message.ttl for sent in mesh.sent_of(RouteRequest) if sent.message.origin == 4] == [30]


def test_a_reply_that_is_passed_on_prolongs_the_way_back():
    mesh = line(3, **NS2)
    send(mesh, 0, 2)
    mesh.run(for_=1)
    lives = [mesh.routers[node].unicast.routes.entries[0].expires for node in (1, 2)]
    assert (
        lives[0] > 9 > 7 > lives[1]
    )  # active_route_timeout where it passed, reverse_route_life where it began


@pytest.mark.parametrize(("memory", "floods"), [(0.0, 1), (6.0, 2)])
def test_in_ns2_a_request_that_waited_for_twelve_seconds_is_flooded_again(memory, floods):
    mesh = line(3, **{**NS2, "request_memory": memory})
    node = mesh.routers[1].unicast
    request = RouteRequest(0, 0, 30, 5, 9, 0, 7, 2)
    for wait in (0.0, 5.0, 13.0):
        mesh.run(for_=wait)
        node.receive(request, 0, 1.0)
    mesh.run(for_=1)
    assert len([sent for sent in mesh.sent_of(RouteRequest) if sent.node == 1]) == floods


def test_in_ns2_further_messages_wait_while_a_route_is_repaired_and_it_is_still_told():
    mesh = line(6, **NS2)
    send(mesh, 0, 5)
    mesh.run(for_=2)
    mesh.cut(4, 5)
    for sequence in (2, 3):
        send(mesh, 0, 5, sequence)
        mesh.run(for_=0.1)
    node = mesh.routers[4].unicast
    assert node.routes.repairs(5)
    assert len(node.forwarding.held) == 2
    assert not [drop for drop in mesh.drops if isinstance(drop.message, Copy)]
    mesh.sent.clear()
    node.receive(RouteRequest(0, 0, 30, 77, 5, 0, 9, 2), 3, 1.0)
    (reply,) = [sent.message for sent in mesh.sent_of(RouteReply) if sent.node == 4]
    assert (reply.destination, reply.hops, reply.lifetime) == (5, 1, 2**32 - 1)
