"""What if it were AODV, or DSR? RAFT-CBR keeps its promise over whatever unicast routing is below it."""

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.aodv.messages import RouteRequest
from roamcast.routing.unicast.dsdv.messages import DsdvUpdate
from roamcast.routing.unicast.dsr.messages import DsrRequest
from roamcast.testing import LinkModel, Mesh

Coupon = EventType("coupon", {"zone": Integer()})
SPEAKS = {"dsdv": DsdvUpdate, "aodv": RouteRequest, "dsr": DsrRequest}


@pytest.mark.parametrize("below", SPEAKS)
def test_every_event_arrives_once_and_in_order_though_links_lose_and_break(below):
    mesh = Mesh.grid(
        3,
        2,
        lambda host: RaftCbr(host, RaftCbrParameters(unicast=below)),
        links=LinkModel(loss=0.1, tries=3),
        seed=3,
    )
    mesh.advertise(0, Coupon.zone >= 0)
    mesh.run(for_=20)
    mesh.subscribe(5, Coupon.zone >= 0)
    mesh.run(for_=20)
    for zone in range(12):
        if zone == 4:
            mesh.cut(1, 4)
        if zone == 8:
            mesh.kill(3)
        mesh.publish(0, Coupon(zone=zone))
        mesh.run(for_=2)
    mesh.run(for_=120)
    assert mesh.delivered == [(5, Coupon(zone=zone)) for zone in range(12)]
    said = {type(sent.message) for sent in mesh.sent}
    assert said & set(SPEAKS.values()) == {SPEAKS[below]}


def test_what_only_another_unicast_routing_says_is_not_understood():
    mesh = Mesh.line(2, lambda host: RaftCbr(host, RaftCbrParameters(unicast="dsr")))
    assert mesh.inject(1, RouteRequest(0, 0, 5, 1, 7, 0, 3, 1), sender=0) is Drop.MALFORMED


@pytest.mark.parametrize("below", SPEAKS)
def test_a_node_is_not_its_own_next_hop(below):
    mesh = Mesh.line(2, lambda host: RaftCbr(host, RaftCbrParameters(unicast=below)))
    mesh.run(for_=30)
    for node in (0, 1):
        assert mesh.routers[node].unicast.next_hop(node) in (None, node)  # DSR raised an IndexError
