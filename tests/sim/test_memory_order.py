"""Nodes near each other are adjacent in memory; facts and hosts still know them by number."""

from itertools import pairwise
from math import dist
from random import Random

from roamcast import _kernel

from .twin import MAC, RADIO


def crowd(nodes: int, side: float):
    """Return a started world of standing nodes at random places, and the places."""
    random = Random(nodes)
    places = [(random.uniform(0, side), random.uniform(0, side)) for _ in range(nodes)]
    world = _kernel.World(RADIO, MAC, 1)
    for place in places:
        world.add_static(*place)
    world.start()
    return world, places


def test_successive_nodes_are_near_each_other():
    world, places = crowd(2000, 4000.0)
    order = world.order()
    assert sorted(order) == list(range(2000))
    steps = [dist(places[a], places[b]) for a, b in pairwise(order)]
    # The mean distance of two random nodes is 2086 m, of a node from its nearest 45 m.
    assert sum(steps) / len(steps) < 200


def test_positions_and_receivers_are_by_number():
    world, places = crowd(300, 1500.0)
    assert world.order() != list(range(300))
    assert [tuple(place) for place in world.positions().reshape(-1, 2)] == places
    for node in range(0, 300, 17):
        assert world.position(node) == places[node]
        near = [n for n in range(300) if n != node and dist(places[n], places[node]) <= 550]
        assert sorted(number for number, _, _ in world.receivers(node)) == near
        found = [(delay, number) for number, delay, _ in world.receivers(node)]
        assert found == sorted(found)


def test_equally_distant_receivers_come_in_the_order_of_their_numbers():
    world = _kernel.World(RADIO, MAC, 1)
    ring = [(500.0, 400.0), (400.0, 500.0), (500.0, 600.0), (600.0, 500.0)]
    for place in [*ring, (500.0, 500.0), *reversed(ring)]:
        world.add_static(*place)
    world.start()
    assert [number for number, _, _ in world.receivers(4)] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert world.order() != sorted(world.order())
