"""Meshes of Pub/Sub ODMRP and the events of its stories."""

from functools import partial

from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.schema import EventType
from roamcast.routing.odmrp.pubsub.messages import (
    GroupEvent,
)
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.odmrp.pubsub.pubsub import PubSubOdmrp
from roamcast.testing import Mesh

CD = EventType(
    "CD", {"category": Enumeration(("pop", "jazz", "classic")), "composer": String(), "price": Decimal()}
)
Coupon = EventType("coupon", {"zone": Integer()})
ANY = Coupon.zone >= 0
THREE, SEVEN = Coupon(zone=3), Coupon(zone=7)
EVANS = CD(category="jazz", composer="Evans", price=12)
HARRISON = CD(category="pop", composer="Harrison", price=12)

# As the papers have it: the event asks, and what nobody was asked about goes to those who are known.
AS_PUBLISHED = {
    "query_content": "event",
    "unqueried_events": "known",
    "combine": False,
    "omit_known_subscriptions": False,
}


def router(**parameters):
    return partial(PubSubOdmrp, parameters=PubSubParameters(**{"spread": 0.01, **parameters}))


def line(nodes, *subscriptions, advertised=ANY, **parameters):
    mesh = Mesh.line(nodes, router(**parameters))
    for node, wanted in subscriptions:
        mesh.subscribe(node, wanted)
    mesh.advertise(0, advertised)
    mesh.run(for_=1)
    return mesh


def carriers(mesh, kind=GroupEvent):
    return [sent.node for sent in mesh.sent_of(kind)]


def forwarding(mesh):
    return [node for node, each in enumerate(mesh.routers) if len(each.group)]
