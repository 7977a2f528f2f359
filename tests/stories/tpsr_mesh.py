"""Meshes of TPSR and the events of its stories."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.tpsr.messages import RoutedEvent, RouteSubscription
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.routing.tpsr.tpsr import Tpsr

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)

FIGURE_4 = [(0, 1), (0, 2), (1, 3), (2, 4), (2, 5)]
"P = 0, A1 = 1, A2 = 2, S1 = 3, S2 = 4, S3 = 5."


def tpsr(**parameters):
    return partial(Tpsr, parameters=TpsrParameters(**parameters))


def laid(mesh, subscribers, wanted=NARROW):
    """The mesh once subscribers, one after the other, have laid their routes."""
    for node in subscribers:
        mesh.subscribe(node, wanted)
        mesh.run(for_=3)
    return mesh


def renewals(mesh, node):
    return [s.time for s in mesh.sent_of(RouteSubscription) if s.node == node == s.message.subscriber]


def routed(mesh):
    return [s.node for s in mesh.sent_of(RoutedEvent)]
