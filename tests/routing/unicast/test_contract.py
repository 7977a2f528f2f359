"""The contract of unicast routing, written once: whatever implements it must pass.

Each is named by how the baseline that stands on it is made; its parameters let routes be found soon.
"""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.schema import EventType
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.aodv.parameters import NS2 as NS2_AODV
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.copies import AodvUnicast, Copy, DsdvUnicast, DsrUnicast
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsr.messages import DsrPacket
from roamcast.routing.unicast.dsr.parameters import NS2 as NS2_DSR
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.gpsr.baseline import GpsrUnicast
from roamcast.routing.unicast.gpsr.messages import GeoPacket, PointCm
from roamcast.routing.unicast.gpsr.parameters import GpsrUnicastParameters
from roamcast.routing.unicast.unicast import Datagram, Unicast
from roamcast.testing import LinkModel, Mesh
from roamcast.wire.message import unwrap

IMPLEMENTATIONS = {
    "dsdv": lambda host: DsdvUnicast(host, DsdvParameters(settling=0.1, period=5, start_jitter=1)),
    "dsdv with detours": lambda host: DsdvUnicast(
        host, DsdvParameters(settling=0.1, period=5, start_jitter=1, link_feedback=False, detours=True)
    ),
    "aodv": AodvUnicast,
    "aodv of ns-2": lambda host: AodvUnicast(host, AodvParameters(**NS2_AODV)),
    "dsr": DsrUnicast,
    "dsr of ns-2": lambda host: DsrUnicast(host, DsrParameters(**NS2_DSR)),
    "gpsr": lambda host: GpsrUnicast(host, GpsrUnicastParameters(announce=5.0)),
    "gpsr, relative neighbourhoods": lambda host: GpsrUnicast(
        host, GpsrUnicastParameters(announce=5.0, planar="rng")
    ),
}
SETTLED = 60
APART = 200.0
"Metres between neighbours, for those that route by place."
News = EventType("news", {})


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request):
    return IMPLEMENTATIONS[request.param]


def send(mesh, origin, to, count=1):
    """Have a node send copies to another; gives their publications."""
    mesh.add_event_type(News)
    sent = [Publication(origin, mesh.hosts[origin].random.getrandbits(24) + 1, News()) for _ in range(count)]
    for publication in sent:
        mesh.routers[origin].unicast.send(Copy(publication), to)
    return sent


def lay(mesh, columns):
    """Give nodes places, row by row."""
    for node in range(len(mesh.hosts)):
        mesh.place(node, node % columns * APART, node // columns * APART)
    return mesh


def arrivals(mesh):
    return [(d.node, d.publication.id) for d in mesh.deliveries]


def test_it_says_what_it_is(implementation):
    router = Mesh.line(1, implementation).routers[0]
    assert isinstance(router.unicast, Unicast)
    assert set(router.unicast.messages) < set(router.messages)
    assert all(table.entries <= table.limit for table in router.tables().values())


def test_a_message_arrives_over_as_many_hops_as_it_takes_and_at_its_destination_alone(implementation):
    mesh = lay(Mesh.line(6, implementation), 6)
    mesh.run(for_=SETTLED)
    (publication,) = send(mesh, 0, 5)
    mesh.run(for_=5)
    assert arrivals(mesh) == [(5, publication.id)]
    assert mesh.routers[2].unicast.next_hop(5) in (None, 3)
    send(mesh, 0, 1)  # who asks for routes only when they are needed has one to a neighbour now
    mesh.run(for_=0.5)
    assert 1 in mesh.routers[0].unicast.neighbours()


def test_what_is_sent_before_a_route_is_known_arrives_when_there_is_one(implementation):
    mesh = lay(Mesh.line(4, implementation), 4)
    (publication,) = send(mesh, 0, 3)
    mesh.run(for_=SETTLED)
    assert arrivals(mesh) == [(3, publication.id)]


def test_a_message_to_nobody_is_dropped_or_waits_and_does_not_wander_for_ever(implementation):
    mesh = lay(Mesh.grid(3, 3, implementation), 3)
    mesh.run(for_=SETTLED)
    send(mesh, 0, 77, count=20)
    mesh.run(for_=SETTLED)
    held = sum(router.tables().get("held", (0,))[0] for router in mesh.routers)
    let_go = [drop for drop in mesh.drops if isinstance(unwrap(drop.message), Copy)]
    assert len(let_go) + held == 20
    assert arrivals(mesh) == []


def test_a_message_with_no_hops_left_stops(implementation):
    mesh = lay(Mesh.line(3, implementation), 3)
    mesh.run(for_=SETTLED)
    mesh.add_event_type(News)
    copy = Copy(Publication(0, 1, News()))
    if DsrPacket in mesh.routers[1].messages:  # a way with hops left ends at its destination, or here
        lost = DsrPacket(0, 1, 0, (0, 1, 0), 1, copy)
        assert mesh.inject(1, lost, sender=0) is Drop.MALFORMED
        return
    last = Datagram(0, 2, 1, copy)
    if GeoPacket in mesh.routers[0].messages:
        last = GeoPacket(0, 2, PointCm(40_000, 0), 0, 7, 1, PointCm(0, 0), (), copy)
    said = mesh.inject(1, last, sender=0)
    assert Drop.HOP_LIMIT in (said, *(drop.reason for drop in mesh.drops))
    mesh.run(for_=1)
    assert arrivals(mesh) == []


def test_a_broken_link_is_survived_where_another_way_exists(implementation):
    mesh = lay(Mesh(4, implementation, [(0, 1), (1, 3), (0, 2), (2, 3)]), 2)
    mesh.run(for_=SETTLED)
    send(mesh, 0, 3)
    mesh.run(for_=1)
    mesh.deliveries.clear()
    hop = mesh.routers[0].unicast.next_hop(3)
    mesh.cut(hop, 3)
    mesh.run(for_=SETTLED)
    send(mesh, 0, 3)  # from which those who use old ways learn of the break
    mesh.run(for_=5)
    (publication,) = send(mesh, 0, 3)
    mesh.run(for_=5)
    assert arrivals(mesh)[-1:] == [(3, publication.id)]


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(IMPLEMENTATIONS)))
def test_whatever_the_links_do_a_message_arrives_once_or_has_an_end(seed, name):
    links = LinkModel(loss=0.2, duplicate=0.2, jitter=0.05, tries=3)
    mesh = lay(Mesh.grid(3, 2, IMPLEMENTATIONS[name], links=links, seed=seed), 3)
    mesh.run(for_=SETTLED)
    sent = send(mesh, 0, 5, count=8)
    mesh.run(for_=SETTLED)
    assert max(Counter(arrivals(mesh)).values(), default=0) <= 1
    ended = {d.publication.id for d in mesh.deliveries}
    ended |= {unwrap(d.message).publication_id for d in mesh.drops if isinstance(unwrap(d.message), Copy)}
    waiting = sum(router.tables().get("held", (0,))[0] for router in mesh.routers)
    missing = {publication.id for publication in sent} - ended
    assert len(missing) <= waiting
    assert len(ended) > 0
