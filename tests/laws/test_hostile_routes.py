"""Hostile air around AODV and DSR: forged routes, loops, numbers at their limits, floods of ids."""

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from roamcast.content.schema import EventType
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.aodv.messages import RouteError, RouteReply, RouteRequest, Unreachable
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.copies import AodvUnicast, Copy, DsrUnicast
from roamcast.routing.unicast.dsr.messages import DeadLink, DsrError, DsrPacket, DsrReply, DsrRequest
from roamcast.routing.unicast.dsr.parameters import NS2, DsrParameters
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh
from roamcast.testing.messages import hostile_messages

News = EventType("news", {})


class FlowingDsr(DsrUnicast):
    """DSR with the rules of ns-2: packets follow flows, replies and errors are salvaged."""

    def __init__(self, host):
        super().__init__(host, DsrParameters(**NS2))


PROTOCOLS = {"aodv": AodvUnicast, "dsr": DsrUnicast, "dsr with flows": FlowingDsr}
FORGED = tuple(Publication(publisher, sequence, News()) for publisher in (0, 1, 3) for sequence in (1, 40))
HIGHEST = 2**32 - 1
AODV = AodvParameters()


def send(mesh, origin, to, sequence):
    mesh.routers[origin].unicast.send(Copy(Publication(origin, sequence, News())), to)


def talks_to_itself(mesh):
    return [sent for sent in mesh.sent if sent.to == sent.node]


@settings(deadline=None, max_examples=10)
@example(name="aodv", seed=97263490, heard=[(0, 0)] * 38 + [(2, 0)])  # a forged number outlives 30 s
@given(
    name=st.sampled_from(sorted(PROTOCOLS)),
    seed=st.integers(0, 10**9),
    heard=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=5, max_size=40),
)
def test_no_noise_breaks_a_network(name, seed, heard):
    router = PROTOCOLS[name]
    mesh = Mesh.line(4, router, seed=1)
    mesh.add_event_type(News)
    send(mesh, 0, 3, 1)
    mesh.run(for_=2)
    noise = hostile_messages(router, Random(seed), nodes=range(5), patterns=(), publications=FORGED)
    for to, sender in heard:
        mesh.inject(to, next(noise), sender)
        mesh.run(for_=0.01)
    mesh.run(for_=AODV.my_route_timeout + AODV.delete_period)  # until forged sequence numbers are forgotten
    assert talks_to_itself(mesh) == []
    for table in (table for each in mesh.routers for table in each.tables().values()):
        assert table.entries <= table.limit
    # Forged routes have expired, or break at the first message that uses them; one of the next arrives.
    for sequence in range(100, 104):
        send(mesh, 0, 3, sequence)
        mesh.run(for_=15)
    got = {d.publication.sequence for d in mesh.deliveries if d.node == 3 and d.publication.publisher == 0}
    assert got & {100, 101, 102, 103}


def test_floods_of_requests_leave_the_tables_of_aodv_bounded_and_the_network_works():
    small = AodvParameters(destinations=50, requests=100, precursors=4)
    mesh = Mesh.line(3, lambda host: AodvUnicast(host, small))
    mesh.add_event_type(News)
    router = mesh.routers[1]
    for fake in range(500):
        router.receive(RouteRequest(1, 1, 1, fake, 2, 0, 1000 + fake, HIGHEST - fake), 9, 0.0)
        router.receive(RouteReply(0, 1, 5000 + fake, fake, 2, HIGHEST), 2000 + fake % 300, 0.0)
        router.link_failed(RouteReply(0, 1, 1, 1, 1, 1), 3000 + fake)
    assert all(table.entries <= table.limit for table in router.tables().values())
    mesh.run(for_=60)
    send(mesh, 0, 2, 7)
    mesh.run(for_=10)
    assert [d.node for d in mesh.deliveries] == [2]


def test_floods_of_requests_leave_the_tables_of_dsr_bounded_and_the_network_works():
    small = DsrParameters(
        requests=100, overheard_limit=100, primary=5, secondary=5, gratuitous_table=5, targets=5
    )
    mesh = Mesh.line(3, lambda host: DsrUnicast(host, small))
    mesh.add_event_type(News)
    router = mesh.routers[1]
    copy = Copy(FORGED[0])
    for fake in range(300):
        router.receive(DsrRequest(2, fake, 1, (1000 + fake, 9)), 9, 0.0)
        router.receive(DsrReply(fake, (2, 1), 1, (1, 3000 + fake, 7)), 2, 0.0)
        router.overhear(DsrPacket(500, fake, 0, (4000 + fake, 500, 1), 1, copy), 4000 + fake, 500, 0.0)
        router.unicast.send(copy, 9000 + fake)
    assert all(table.entries <= table.limit for table in router.tables().values())
    mesh.run(for_=320)
    send(mesh, 0, 2, 7)
    mesh.run(for_=10)
    assert 2 in [d.node for d in mesh.deliveries]


@pytest.mark.parametrize("sequence", [0, 1, 2**31 - 1, 2**31, HIGHEST])
def test_whatever_number_is_forged_in_a_nodes_name_its_next_answer_is_newer(sequence):
    mesh = Mesh.line(3, AodvUnicast)
    mesh.add_event_type(News)
    mesh.inject(1, RouteReply(0, 0, 2, sequence, 1, 10_000), sender=0)
    mesh.run(for_=40)
    for number in range(3):
        send(mesh, 1, 2, 50 + number)
        mesh.run(for_=10)
    assert 52 in [d.publication.sequence for d in mesh.deliveries]


def test_a_way_that_meets_itself_or_leads_elsewhere_is_refused():
    mesh = Mesh.line(3, DsrUnicast)
    mesh.add_event_type(News)
    copy = Copy(FORGED[0])
    for forged in (
        DsrPacket(0, 1, 0, (0, 1, 0), 1, copy),
        DsrPacket(0, 1, 0, (0, 1, 2), 2, copy),
        DsrReply(1, (2, 1, 0), 1, (0, 1, 0)),
        DsrError(1, (2, 1, 1), 1, DeadLink(2, 9)),
        DsrRequest(2, 1, 5, (0, 5, 0)),
        DsrRequest(2, 2, 5, (7,)),
    ):
        assert mesh.inject(1, forged, sender=0) is Drop.MALFORMED
    assert mesh.sent == []


def test_who_claims_to_be_me_is_refused():
    mesh = Mesh.line(2, AodvUnicast)
    for forged in (
        RouteRequest(0, 0, 5, 1, 7, 0, 3, 1),
        RouteReply(0, 0, 7, 1, 3, 1000),
        RouteError(0, (Unreachable(7, 1),)),
    ):
        assert mesh.inject(1, forged, sender=1) is Drop.MALFORMED
    mesh.add_event_type(News)
    assert mesh.inject(1, Datagram(0, 9, 255, Copy(FORGED[0])), sender=1) is Drop.MALFORMED
    assert talks_to_itself(mesh) == []
