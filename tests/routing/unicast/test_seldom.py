"""What routing seldom meets: itself as a destination, its own packets, counters and tables at their end."""

import pytest

from roamcast.routing.numbering import SequenceNumbers
from roamcast.routing.odmrp.link_expiry import LinkExpiry
from roamcast.routing.odmrp.messages import Motion
from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Drop, Publication
from roamcast.routing.unicast.aodv.routes import AodvRoute
from roamcast.routing.unicast.copies import Copy, DsrUnicast
from roamcast.routing.unicast.dsdv.detours import Detours
from roamcast.routing.unicast.dsdv.messages import DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.dsr.messages import DsrPacket, DsrReply, DsrRequest
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh

from .test_contract import IMPLEMENTATIONS, SETTLED, News, lay, send

COPY = Copy(Publication(0, 1, News()))


@pytest.mark.parametrize(("name", "hops"), [("aodv", 35), ("dsr", 0)])
def test_what_is_sent_to_oneself_is_let_go_as_it_is(name, hops):
    mesh = Mesh.line(2, IMPLEMENTATIONS[name])
    (publication,) = send(mesh, 1, 1)
    [drop] = mesh.drops
    assert (drop.node, drop.reason, drop.message) == (
        1,
        Drop.MALFORMED,
        Datagram(1, 1, hops, Copy(publication)),
    )
    mesh.run(for_=2)
    assert mesh.deliveries == [] == mesh.sent_of(DsrRequest)


def test_a_packet_of_dsr_that_has_come_back_to_its_origin_ends_there():
    mesh = Mesh.line(3, DsrUnicast)
    mesh.add_event_type(News)
    back = DsrPacket(1, 4, 0, (0, 1, 2), 1, COPY)
    assert mesh.inject(1, back, sender=0) is None
    assert [(drop.node, drop.message, drop.reason) for drop in mesh.drops] == [(1, back, Drop.HOP_LIMIT)]
    salvaged = DsrPacket(1, 4, 1, (0, 1, 2), 1, COPY)
    assert mesh.inject(1, salvaged, sender=0) is None
    mesh.run(for_=1)
    assert [(sent.node, sent.to) for sent in mesh.sent_of(DsrPacket)] == [(1, 2)]


def test_a_request_of_dsr_over_too_many_nodes_is_not_answered_and_a_reply_to_another_is_refused():
    mesh = Mesh.line(5, lambda host: DsrUnicast(host, DsrParameters(route_limit=3)))
    assert mesh.inject(4, DsrRequest(4, 7, 9, (0, 2, 3)), sender=3) is Drop.HOP_LIMIT
    assert mesh.inject(4, DsrRequest(4, 8, 9, (1, 3)), sender=3) is None
    mesh.run(for_=1)
    assert [sent.message.found for sent in mesh.sent_of(DsrReply) if sent.node == 4] == [(1, 3, 4)]
    assert mesh.inject(4, DsrReply(9, (3, 4), 1, (2, 3, 4)), sender=3) is Drop.MALFORMED


def test_a_neighbour_is_its_own_next_hop_for_who_routes_by_place():
    mesh = lay(Mesh.line(3, IMPLEMENTATIONS["gpsr"]), 3)
    mesh.run(for_=SETTLED)
    assert mesh.routers[0].unicast.next_hop(1) == 1


def test_a_publisher_has_so_many_numbers_and_no_more():
    numbers = SequenceNumbers(3)
    assert [numbers.take() for _ in range(2)] == [3 << 24 | 1, 3 << 24 | 2]
    numbers._count = (1 << 24) - 2
    assert numbers.take() == (3 << 24) + (1 << 24) - 1
    with pytest.raises(OverflowError, match="more than 16777215 publications of one publisher"):
        numbers.take()


def test_of_those_who_use_a_route_the_oldest_is_forgotten():
    route = AodvRoute(7)
    for neighbour in (4, 2, 9):
        route.use_by(neighbour, 2)
    assert list(route.precursors) == [2, 9]
    route.use_by(2, 2)
    assert list(route.precursors) == [2, 9]


def test_the_last_full_update_of_each_neighbour_is_counted():
    detours = Detours()
    first = DsdvUpdate((DsdvEntry(4, 0, 2), DsdvEntry(9, 3, 8)))
    detours.hear(4, first)
    detours.hear(5, DsdvUpdate((DsdvEntry(5, 0, 2),)))
    detours.hear(6, first)  # begins with another: not a full one
    assert detours.footprint(8) == (2, first.size + DsdvUpdate((DsdvEntry(5, 0, 2),)).size, 8)
    detours.forget(4)
    assert detours.footprint(8)[0] == 1


class Nowhere:
    """A host whose scenario grants no location."""

    def position(self):
        raise PermissionError

    def velocity(self):
        raise PermissionError


def test_who_may_not_know_its_place_tells_none_and_believes_what_it_is_told():
    here = LinkExpiry(Nowhere(), MeshParameters(prediction=True))
    assert here.motion() == ()
    assert here.lifetime((Motion(1.0, 2.0, 0.0, 0.0, 1234),)) == 1234
    assert here.lifetime(()) is None
    off = LinkExpiry(Nowhere(), MeshParameters(prediction=False))
    assert off.lifetime((Motion(1.0, 2.0, 0.0, 0.0, 1234),)) is None and off.motion() == ()
