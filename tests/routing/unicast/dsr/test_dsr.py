"""Stories of DSR, each about one rule of RFC 4728 or of ns-2."""

from itertools import pairwise

import pytest

from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.copies import Copy, DsrUnicast
from roamcast.routing.unicast.dsr.messages import (
    DeadLink,
    DsrError,
    DsrPacket,
    DsrReply,
    DsrRequest,
    InnerError,
)
from roamcast.routing.unicast.dsr.parameters import NS2, DsrParameters
from roamcast.testing import Mesh

from ..histories import News


def dsr(**parameters):
    return lambda host: DsrUnicast(host, DsrParameters(**parameters))


def send(mesh, origin, to, sequence=1):
    mesh.add_event_type(News)
    mesh.routers[origin].unicast.send(Copy(Publication(origin, sequence, News())), to)


def asked(mesh, node):
    return [sent for sent in mesh.sent_of(DsrRequest) if sent.message.so_far == (node,)]


def packets(mesh):
    return [sent for sent in mesh.sent if isinstance(sent.message, DsrPacket)]


def test_neighbours_are_asked_first_then_everyone_at_waits_that_double():
    mesh = Mesh.line(2, dsr(max_requests=6))
    send(mesh, 0, 7)
    mesh.run(for_=40)
    requests = asked(mesh, 0)
    assert [sent.message.ttl for sent in requests] == [1] + [255] * 6
    waits = [b.time - a.time for a, b in pairwise(requests)]
    assert waits == pytest.approx([0.03, 0.47, 1.0, 2.0, 4.0, 8.0])
    assert [drop.reason for drop in mesh.drops if isinstance(drop.message, Copy)] == [Drop.NO_ROUTE]


def test_in_ns2_neighbours_are_asked_in_each_round_and_waits_grow_fourfold():
    mesh = Mesh.line(2, dsr(**NS2))
    send(mesh, 0, 7)
    mesh.run(for_=25)
    requests = asked(mesh, 0)
    assert [sent.message.ttl for sent in requests] == [1, 16] * 4
    rounds = [sent.time for sent in requests if sent.message.ttl == 1]
    waits = [b - a for a, b in pairwise(rounds)]
    assert waits == pytest.approx([2, 8, 10], abs=0.06)


def test_in_ns2_one_check_of_the_buffer_asks_everyone_for_all_destinations_at_once():
    mesh = Mesh.line(2, dsr(**NS2 | {"request_jitter": 0}))
    for destination in range(7, 17):
        send(mesh, 0, destination, sequence=destination)
    mesh.run(for_=1)
    everyone = [sent for sent in asked(mesh, 0) if sent.message.ttl == 16]
    assert {sent.message.target for sent in everyone} == set(range(7, 17))
    assert len({sent.time for sent in everyone}) == 1


def test_in_ns2_a_search_that_begins_later_is_checked_in_time():
    mesh = Mesh.line(2, dsr(**NS2 | {"request_jitter": 0}))
    send(mesh, 0, 7)
    mesh.run(for_=4)  # the next check for 7 is 10 s after its start
    send(mesh, 0, 8, sequence=2)
    mesh.run(for_=1)
    first, second = (sent for sent in asked(mesh, 0) if sent.message.target == 8)
    assert second.time - first.time == pytest.approx(0.0525, abs=0.0226)


def test_a_packet_carries_its_whole_way_and_counts_its_bytes():
    mesh = Mesh.line(5, dsr())
    send(mesh, 0, 4)
    mesh.run(for_=2)
    sent = packets(mesh)
    assert [(s.node, s.to, s.message.at) for s in sent] == [(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 4, 4)]
    assert {s.message.route for s in sent} == {(0, 1, 2, 3, 4)}
    assert {s.message.size for s in sent} == {4 * 5 + Copy(Publication(0, 1, News())).size}


def test_a_request_grows_by_four_bytes_a_hop_and_in_ns2_by_the_whole_header():
    sizes = {}
    for name, parameters in (("rfc", {}), ("ns2", NS2)):
        mesh = Mesh.line(4, dsr(**parameters))
        send(mesh, 0, 3)
        mesh.run(for_=1)
        sizes[name] = [s.message.minimum_size for s in mesh.sent_of(DsrRequest) if s.message.ttl > 1]
    assert sizes["rfc"][:3] == [12, 16, 20]
    assert sizes["ns2"][:3] == [12, 28, 48]  # traced in ns-2: 32, 48 and 68 bytes with the network header


def test_a_neighbour_that_knows_the_way_answers_and_nobody_else_is_asked():
    mesh = Mesh.line(5, dsr(overhearing=False))
    send(mesh, 1, 4)
    mesh.run(for_=2)
    mesh.sent.clear()
    send(mesh, 0, 4)
    mesh.run(for_=2)
    assert [sent.message.ttl for sent in mesh.sent_of(DsrRequest)] == [1]
    (reply,) = mesh.sent_of(DsrReply)
    assert (reply.node, reply.message.found) == (1, (0, 1, 2, 3, 4))
    assert len(mesh.deliveries) == 2


def test_who_overhears_a_packet_knows_its_way_without_asking():
    mesh = Mesh(5, dsr(), [(0, 1), (1, 2), (2, 3), (4, 1)])
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.sent.clear()
    send(mesh, 4, 3)
    mesh.run(for_=2)
    assert mesh.sent_of(DsrRequest) == []
    assert packets(mesh)[0].message.route == (4, 1, 2, 3)
    assert len(mesh.deliveries) == 2


def test_without_overhearing_it_asks():
    mesh = Mesh(5, dsr(overhearing=False), [(0, 1), (1, 2), (2, 3), (4, 1)])
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.sent.clear()
    send(mesh, 4, 3)
    mesh.run(for_=2)
    assert len(asked(mesh, 4)) == 1
    assert len(mesh.deliveries) == 2


def test_who_hears_a_packet_too_soon_tells_of_the_shortcut_once_a_second():
    mesh = Mesh.line(4, dsr())
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.join(0, 2)
    mesh.sent.clear()
    send(mesh, 0, 3, 2)
    mesh.run(for_=0.5)
    (reply,) = mesh.sent_of(DsrReply)
    assert (reply.node, reply.to, reply.message.found) == (2, 0, (0, 2, 3))
    mesh.sent.clear()
    send(mesh, 0, 3, 3)
    mesh.run(for_=0.5)
    assert packets(mesh)[0].message.route == (0, 2, 3)


def test_a_node_at_a_break_tells_the_origin_and_sends_the_packet_another_way_that_it_knows():
    mesh = Mesh(5, dsr(), [(0, 1), (1, 2), (2, 3), (1, 4), (4, 3)])
    send(mesh, 0, 3)
    mesh.run(for_=2)
    broken = packets(mesh)[0].message.route[2]
    other = {2: 4, 4: 2}[broken]
    mesh.routers[1].unicast.cache.add((1, other, 3), mesh.now)
    mesh.cut(1, broken)
    mesh.sent.clear()
    send(mesh, 0, 3, 2)
    mesh.run(for_=2)
    assert len(mesh.deliveries) == 2
    salvaged = [sent.message for sent in packets(mesh) if sent.message.salvaged]
    assert {(message.origin, message.route) for message in salvaged} == {(0, (1, other, 3))}
    assert [(s.node, s.to, s.message.dead) for s in mesh.sent_of(DsrError)] == [(1, 0, (1, broken))]
    assert mesh.routers[0].unicast.next_hop(3) is None or broken not in mesh.routers[0].unicast.cache.find(
        3, mesh.now
    )


@pytest.mark.parametrize("parameters", [{}, NS2], ids=["rfc", "ns2"])
def test_the_other_way_of_a_salvaged_packet_may_lead_through_its_origin(parameters):
    mesh = Mesh(4, dsr(**parameters), [(0, 1), (0, 3), (3, 2)])
    mesh.routers[0].unicast.cache.add((0, 1, 2), 0.0)
    mesh.routers[1].unicast.cache.add((1, 0, 3, 2), 0.0)
    send(mesh, 0, 2)
    mesh.run(for_=2)
    assert [d.node for d in mesh.deliveries] == [2]
    assert [(s.node, s.message.route) for s in packets(mesh) if s.message.salvaged] == [
        (node, (1, 0, 3, 2)) for node in (1, 0, 3)
    ]


def test_the_last_error_rides_on_the_next_request():
    mesh = Mesh.line(4, dsr())
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.cut(1, 2)
    send(mesh, 0, 3, 2)
    mesh.run(for_=0.1)
    mesh.sent.clear()
    send(mesh, 0, 3, 3)
    mesh.run(for_=0.1)
    assert {sent.message.dead for sent in mesh.sent_of(DsrRequest)} == {((1, 2),)}
    mesh.run(for_=2)
    assert mesh.sent_of(DsrRequest)[-1].message.dead == ()


def test_in_ns2_a_node_on_the_way_asks_its_neighbours_once_and_then_lets_the_packet_go():
    # As traced in ns-2: the request at once, the drop two seconds later.
    mesh = Mesh.line(4, dsr(**NS2))
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.cut(1, 2)
    began = mesh.now
    send(mesh, 0, 3, 2)
    mesh.run(for_=3)
    assert [sent.message.ttl for sent in asked(mesh, 1)] == [1]
    (let_go,) = [drop for drop in mesh.drops if isinstance(drop.message, Copy)]
    assert (let_go.node, let_go.reason) == (1, Drop.NO_ROUTE)
    assert 2.0 < let_go.time - began < 2.2


def test_a_packet_is_salvaged_only_so_often():
    mesh = Mesh.line(4, dsr(max_salvages=0))
    send(mesh, 0, 3)
    mesh.run(for_=2)
    mesh.cut(1, 2)
    mesh.routers[1].unicast.cache.add((1, 9, 3), mesh.now)
    send(mesh, 0, 3, 2)
    mesh.run(for_=2)
    assert [drop.reason for drop in mesh.drops if isinstance(drop.message, Copy)] == [Drop.HOP_LIMIT]


def test_in_ns2_ones_own_reply_goes_another_way_and_anothers_that_tells_of_the_break_is_let_go():
    mesh = Mesh(5, dsr(**NS2), [(2, 3), (3, 0)])
    node = mesh.routers[2].unicast
    node.cache.add((2, 3, 0), mesh.now)
    node.link_failed(DsrReply(9, (2, 1, 0), 1, (0, 1, 2)), 1)
    mesh.run(for_=0.5)
    assert [(s.node, s.message.route) for s in mesh.sent_of(DsrReply)] == [(2, (2, 3, 0)), (3, (2, 3, 0))]
    mesh.sent.clear()
    node.link_failed(DsrReply(8, (4, 2, 1, 0), 2, (0, 1, 2, 4)), 1)
    assert not mesh.sent_of(DsrReply)
    assert mesh.drops[-1].reason is Drop.NO_ROUTE


def test_in_ns2_what_is_salvaged_from_another_stays_anothers_when_it_fails_again():
    mesh = Mesh(5, dsr(**NS2), [(2, 4)])
    node = mesh.routers[2].unicast
    node.cache.add((2, 3, 0), mesh.now)
    node.link_failed(DsrReply(8, (4, 2, 1, 0), 2, (0, 1, 4)), 1)
    mesh.run(for_=1.5)
    # It failed at 3 as well, and only neighbours are asked for another's.
    assert {sent.message.ttl for sent in asked(mesh, 2)} == {1}


@pytest.mark.parametrize(("origins", "passed"), [(0, [8, 7, 9]), (128, [8, 9])])
def test_in_ns2_a_request_older_than_the_last_of_its_origin_is_not_passed_on(origins, passed):
    mesh = Mesh.line(3, dsr(ordered_requests=origins, jitter=0.0))
    node = mesh.routers[1].unicast
    for number in (8, 7, 9, 9):
        node.receive(DsrRequest(40 + number, number, 16, (0,)), 0, 1.0)
    mesh.run(for_=1)
    assert [sent.message.id for sent in mesh.sent_of(DsrRequest) if sent.node == 1] == passed


def test_in_ns2_an_error_that_fails_is_also_told_inside_of_another_and_sent_on_by_who_gets_that():
    mesh = Mesh(6, dsr(**NS2), [(3, 2), (3, 5), (5, 1)])
    node = mesh.routers[2].unicast
    mesh.routers[3].unicast.cache.add((3, 5, 1), mesh.now)
    failed = DsrError(9, (3, 2, 1), 2, DeadLink(3, 4))
    node.link_failed(failed, 1)
    mesh.run(for_=0.5)
    errors = [(s.node, s.to, s.message.dead, s.message.inner) for s in mesh.sent_of(DsrError)]
    assert errors[0] == (2, 3, DeadLink(2, 1), (InnerError(3, 4, 1),))
    assert (3, 5, DeadLink(3, 4), ()) in errors
    assert (5, 1, DeadLink(3, 4), ()) in errors


@pytest.mark.parametrize(("parameters", "copies"), [(NS2, 2), ({**NS2, "nested_errors": 1}, 1)])
def test_in_ns2_who_overhears_an_error_for_itself_sends_on_what_it_tells_inside_and_again_when_it_arrives(
    parameters, copies
):
    mesh = Mesh(6, dsr(**parameters), [(3, 5), (5, 1)])
    node = mesh.routers[3].unicast
    node.cache.add((3, 5, 1), mesh.now)
    nested = DsrError(9, (2, 4, 3), 1, DeadLink(2, 1), (InnerError(0, 1, 1),))
    node.overhear(nested, 2, 4, 1.0)
    node.receive(DsrError(9, (2, 4, 3), 2, nested.dead, nested.inner), 4, 1.0)
    mesh.run(for_=0.5)
    own = [s.message for s in mesh.sent_of(DsrError) if s.node == 3]
    assert [(error.dead, error.route) for error in own] == [(DeadLink(0, 1), (3, 5, 1))] * copies
    assert [error.burden for error in own] == [nested.header + 58, nested.header][-copies:]


def test_by_the_rfc_an_error_that_fails_is_told_to_nobody():
    mesh = Mesh(6, dsr(), [(3, 2), (3, 5), (5, 1)])
    mesh.routers[2].unicast.link_failed(DsrError(9, (3, 2, 1), 2, DeadLink(3, 4)), 1)
    mesh.run(for_=0.5)
    assert not mesh.sent_of(DsrError)


@pytest.mark.parametrize(("inflated", "more"), [(False, 0), (True, 4 * 4)])
def test_in_ns2_a_packet_that_waited_where_it_is_salvaged_counts_its_old_header_again(inflated, more):
    mesh = Mesh(6, dsr(**{**NS2, "inflated_salvage": inflated}), [(1, 4), (4, 3)])
    mesh.add_event_type(News)
    mesh.routers[4].unicast.cache.add((4, 3), mesh.now)
    copy = Copy(Publication(0, 1, News()))
    mesh.routers[1].unicast.link_failed(DsrPacket(0, 7, 0, (0, 1, 2, 3), 2, copy), 2)
    mesh.run(for_=0.5)
    sent = [s.message for s in packets(mesh) if s.node == 1]
    assert [message.route for message in sent] == [(1, 4, 3)]
    assert sent[0].minimum_size == 4 * 3 + copy.size + more


def test_in_ns2_a_search_for_anothers_message_keeps_its_backoff_and_lets_go_one_at_a_time():
    mesh = Mesh(4, dsr(**NS2), [(0, 1)])
    mesh.add_event_type(News)
    node = mesh.routers[1].unicast
    for number in (1, 2):
        copy = Copy(Publication(0, number, News()))
        node.link_failed(DsrPacket(0, number, 0, (0, 1, 2, 3), 2, copy), 2)
    mesh.run(for_=5)
    assert len(asked(mesh, 1)) == 1
    assert len(node.routing.held) == 1
    mesh.run(for_=7)
    assert (len(asked(mesh, 1)), len(node.routing.held)) == (1, 0)
