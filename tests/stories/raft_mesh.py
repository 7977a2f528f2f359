"""Meshes of RAFT-CBR for its stories: networks with subscribers, and links that lose a kind of message."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing import Mesh
from roamcast.wire.message import unwrap

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)
SEVEN = Coupon(zone=7)

# Routes settle at once, so that a story need not wait for them.
raft = partial(
    RaftCbr, parameters=RaftCbrParameters(dsdv=RaftDsdvParameters(period=3, settling=0.0, link_feedback=True))
)
# And here nobody tells the routes that a link has failed, as in the radio world by default.
deaf_routes = RaftDsdvParameters(period=3, settling=0.0, link_feedback=False)
unnoticing = partial(RaftCbr, parameters=RaftCbrParameters(dsdv=deaf_routes))


def network(nodes, edges, subscribers, wanted=NARROW, router=raft, **options):
    mesh = Mesh(nodes, router, edges, **options)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=20)
    for node in subscribers:
        mesh.subscribe(node, wanted)
    mesh.run(for_=5)
    return mesh


def line(nodes, subscribers, **options):
    return network(nodes, [(n, n + 1) for n in range(nodes - 1)], subscribers, **options)


def deafen(mesh, node, message_type):
    """Make a node lose every message of a type that is for it; gives the way back."""
    router = mesh.routers[node]
    if not hasattr(router, "deaf_to"):
        router.deaf_to = set()
        hear = router.receive

        def receive(message, sender, signal):
            passed_on = isinstance(message, Datagram) and message.destination != node
            if type(unwrap(message)) in router.deaf_to and not passed_on:
                return Drop.EXPIRED
            return hear(message, sender, signal)

        router.receive = receive
    router.deaf_to.add(message_type)
    return partial(router.deaf_to.discard, message_type)


def numbers(mesh, node):
    return [d.publication.sequence for d in mesh.deliveries if d.node == node]
