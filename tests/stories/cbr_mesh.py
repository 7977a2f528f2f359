"""Meshes of CBR and the events of its stories."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Subscription
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
WIDE = Coupon.zone < 5
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

covering = partial(Cbr, parameters=CbrParameters(covering=True))
most_covering = partial(Cbr, parameters=CbrParameters(covering=True, most_covering=True))


def line(nodes, router=Cbr):
    mesh = Mesh.line(nodes, router)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=1)
    return mesh


def settled(edges, **parameters):
    """A mesh in which everyone has heard the offer of node 0 from all its neighbours."""
    mesh = Mesh(1 + max(map(max, edges)), partial(Cbr, parameters=CbrParameters(**parameters)), edges)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=8)
    return mesh


def publish(mesh, event=THREE):
    mesh.publish(0, event)
    mesh.run(for_=1)


def subscribed_through(mesh, node):
    """The neighbours to which `node` sent subscriptions, in order."""
    return [s.to for s in mesh.sent_of(Subscription) if s.node == node]


def subscriptions_to(mesh, node, since=0.0):
    return [s for s in mesh.sent_of(Subscription) if s.to == node and s.time >= since]


def next_hop(mesh, node):
    """The neighbour over which `node` reaches the only publisher."""
    [advert] = mesh.routers[node].adverts.routes(mesh.now)
    return advert.routes[0].neighbour


# Most-covering: figure 2 of the paper. The publisher is 0; the tree to 3 goes over 1 and 2. The newcomer 5 is
# next to 3, and next to 4 which lies on its shortest way.
FIGURE_2 = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (3, 5)]
DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
