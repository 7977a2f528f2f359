"""Fields of nodes that hear each other within 200 m, for stories about communities."""

from itertools import combinations
from math import dist
from random import Random

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.clone.clone import Clone
from roamcast.routing.clone.parameters import CloneParameters
from roamcast.testing import Mesh

Content = EventType("content", {"topic": Integer(1, 20)})
RANGE = 200.0


def topic(number):
    return Content.topic == number


def lay(places, router=Clone, parameters=None, **options):
    """A mesh of nodes at some places."""
    edges = [(a, b) for a, b in combinations(range(len(places)), 2) if dist(places[a], places[b]) <= RANGE]
    chosen = parameters or CloneParameters(**options)
    mesh = Mesh(len(places), lambda host: router(host, chosen), edges)
    for node, place in enumerate(places):
        mesh.place(node, *place)
    mesh.add_event_type(Content)
    return mesh


def street(nodes, apart=150.0):
    return [(apart * node, 0.0) for node in range(nodes)]


def scatter(seed, nodes=14):
    """A connected field: each node is in range of one before it."""
    random = Random(seed)
    places = [(0.0, 0.0)]
    while len(places) < nodes:
        x, y = random.choice(places)
        place = (x + random.uniform(-180, 180), y + random.uniform(-180, 180))
        if dist(place, (x, y)) <= RANGE:
            places.append(place)
    return places


def construct(mesh):
    """Have everyone begin a construction, and wait for its end."""
    for router in mesh.routers:
        router.community.construct()
    p = mesh.routers[0].parameters
    mesh.run(for_=p.voting + p.confirmation_wait + 0.5)


def communities(mesh):
    return [router.community.principal for router in mesh.routers]


def hops_between(mesh, a, b):
    ring, seen, hops = {a}, {a}, 0
    while b not in seen:
        ring = {n for each in ring for n in mesh.neighbours(each)} - seen
        assert ring, "not connected"
        seen |= ring
        hops += 1
    return hops
