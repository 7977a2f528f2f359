"""Stories of flow state: packets leave their way out once those on it know it, and get it back at breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.router import Publication
from roamcast.routing.unicast.copies import Copy, DsrUnicast
from roamcast.routing.unicast.dsr.flows import Flows
from roamcast.routing.unicast.dsr.messages import (
    DsrError,
    DsrFlowError,
    DsrFlowPacket,
    DsrPacket,
    DsrRequest,
)
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.testing import Mesh

from ..histories import News

FLOWING = DsrParameters(flow_state=True)


def flowing(host):
    return DsrUnicast(host, FLOWING)


def send(mesh, origin, to, sequence):
    mesh.add_event_type(News)
    mesh.routers[origin].unicast.send(Copy(Publication(origin, sequence, News())), to)
    mesh.run(for_=1)


def first_hops(mesh):
    return [s.message for s in mesh.sent if s.node == 0 and type(s.message) in (DsrPacket, DsrFlowPacket)]


def test_the_first_three_packets_tell_the_way_and_the_next_carry_nothing_but_the_message():
    mesh = Mesh.line(5, flowing)
    for sequence in range(1, 6):
        send(mesh, 0, 4, sequence)
    sent = first_hops(mesh)
    assert [type(m) for m in sent] == [DsrPacket] * 3 + [DsrFlowPacket] * 2
    assert [m.flow for m in sent] == [1, 1, 1, 0, 0]
    assert len(mesh.deliveries) == 5
    payload = Copy(Publication(0, 1, News())).size
    assert [m.minimum_size - payload for m in sent] == [4 * 5 + 8] * 3 + [0] * 2
    assert [(s.node, s.message.hops) for s in mesh.sent if type(s.message) is DsrFlowPacket] == [
        (node, node + 1) for _ in range(2) for node in range(4)
    ]


def test_a_flow_tells_its_way_again_after_five_seconds():
    mesh = Mesh.line(3, flowing)
    for sequence in range(1, 5):
        send(mesh, 0, 2, sequence)
    mesh.run(for_=5)
    send(mesh, 0, 2, 5)
    assert [type(m) for m in first_hops(mesh)] == [DsrPacket] * 3 + [DsrFlowPacket, DsrPacket]


def test_at_a_break_a_packet_gets_its_way_back_and_its_origin_is_told():
    mesh = Mesh.line(4, flowing)
    for sequence in range(1, 4):
        send(mesh, 0, 3, sequence)
    mesh.cut(1, 2)
    mesh.sent.clear()
    send(mesh, 0, 3, 4)
    assert isinstance(first_hops(mesh)[0], DsrFlowPacket)
    assert [(s.node, s.to, s.message.dead) for s in mesh.sent_of(DsrError)] == [(1, 0, (1, 2))]
    mesh.join(1, 2)
    send(mesh, 0, 3, 5)
    mesh.run(for_=3)
    assert 5 in [d.publication.sequence for d in mesh.deliveries]
    assert first_hops(mesh)[1].flow == 3  # a new flow on the way found anew


def test_who_does_not_know_a_flow_says_so_and_its_way_is_told_again():
    mesh = Mesh.line(4, flowing)
    for sequence in range(1, 4):
        send(mesh, 0, 3, sequence)
    mesh.kill(2)
    mesh.revive(2)
    mesh.run(for_=1)
    send(mesh, 0, 3, 4)
    mesh.run(for_=2)
    assert {(s.message.destination, s.message.flow) for s in mesh.sent_of(DsrFlowError)} == {(3, 0)}
    send(mesh, 0, 3, 5)
    assert isinstance(first_hops(mesh)[-1], DsrPacket)
    assert 5 in [d.publication.sequence for d in mesh.deliveries]


def test_a_shorter_way_begins_a_new_flow_and_the_old_one_is_told_by_its_number():
    flows = Flows(0, FLOWING, 0)
    packet = DsrPacket(0, 1, 0, (0, 9), 1, Copy(Publication(0, 1, News())))
    for now in range(4):
        flows.follow(packet, (0, 1, 2, 9), now)
    for now in range(4):
        short, hop = flows.follow(packet, (0, 3, 9), 4 + now)
    assert (short.flow, hop) == (0, 3)
    flows.cut(3, 9)
    again, hop = flows.follow(packet, (0, 1, 2, 9), 8.0)
    assert (again.flow, hop, type(again)) == (1, 1, DsrPacket)  # untold for five seconds
    again, _ = flows.follow(packet, (0, 1, 2, 9), 8.5)
    assert (again.flow, type(again)) == (1, DsrFlowPacket)


def test_a_flow_that_nothing_follows_lapses_and_tables_stay_bounded():
    small = DsrParameters(flow_state=True, flows=5, flow_timeout=10)
    flows = Flows(1, small, 0)
    payload = Copy(Publication(0, 1, News()))
    for fake in range(100):
        flows.learn(DsrPacket(fake + 10, 1, 0, (fake + 10, 1, 2), 1, payload, 2 * fake + 1), 0.0)
    assert len(flows) == 5
    assert flows.find(DsrFlowPacket(109, 2, 1, 0, 1, payload), 5.0).route == (109, 1, 2)
    assert flows.find(DsrFlowPacket(109, 2, 1, 0, 2, payload), 5.0) is None  # not so many hops from here
    assert flows.find(DsrFlowPacket(109, 2, 1, 0, 1, payload), 15.0) is None
    assert flows.find(DsrFlowPacket(10, 2, 1, 0, 1, payload), 5.0) is None


WAYS = st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True).map(lambda rest: (0, *rest, 9))


@settings(max_examples=60)
@given(st.lists(st.tuples(WAYS, st.integers(0, 8), st.booleans()), min_size=1, max_size=20))
def test_those_on_a_way_who_heard_all_packets_know_where_each_one_goes(deeds):
    """Whatever the origin chooses, a packet without a way goes the one that its flow told."""
    payload = Copy(Publication(0, 1, News()))
    origin, others = Flows(0, FLOWING, 0), {node: Flows(node, FLOWING, 0) for node in range(1, 7)}
    now = 0.0
    for path, wait, cut in deeds:
        now += wait
        message, hop = origin.follow(DsrPacket(0, 1, 0, (0, 9), 1, payload), path, now)
        walked = [0]
        while hop != 9:
            walked.append(hop)
            if type(message) is DsrPacket:
                others[hop].learn(message, now)
                place = message.at
                hop = message.route[place + 1]
                message = DsrPacket(0, 1, 0, message.route, place + 1, payload, message.flow)
            else:
                flow = others[hop].find(message, now)
                assert flow is not None and flow.route[: len(walked)] == tuple(walked)
                hop = flow.route[flow.index + 1]
                message = DsrFlowPacket(0, 9, 1, message.flow, message.hops + 1, payload)
        assert len(walked) <= len(path) - 1
        if cut:
            origin.cut(path[-2], 9)


@pytest.mark.parametrize("heard_by", [0, 1, 2])
def test_a_packet_that_claims_a_flow_nobody_told_of_goes_nowhere(heard_by):
    mesh = Mesh.line(3, flowing)
    mesh.add_event_type(News)
    forged = DsrFlowPacket(0, 7, 1, 5, 1, Copy(Publication(0, 1, News())))
    mesh.inject(heard_by, forged, sender=1 if heard_by != 1 else 0)
    mesh.run(for_=3)
    assert not any(type(s.message) in (DsrPacket, DsrFlowPacket) for s in mesh.sent)
    assert all(s.message.ttl <= 1 or s.message.target == 0 for s in mesh.sent_of(DsrRequest))
