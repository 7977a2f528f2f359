"""Generate topologies: nodes in a line, in a grid, scattered, or moving."""

from __future__ import annotations

from itertools import combinations
from math import cos, dist, hypot, sin, tau
from random import Random
from typing import NamedTuple, TypeAlias

from roamcast.routing.router import NodeId
from roamcast.testing.swarm.history import LinkDownStep, LinkUpStep, MoveStep, Step

Edge: TypeAlias = tuple[NodeId, NodeId]
Point: TypeAlias = tuple[float, float]

RANGE = 250.0
"Radio range [m]."


class Topology(NamedTuple):
    """The links at the start, the steps that change them, and the links after the faults have ended."""

    nodes: int
    edges: tuple[Edge, ...]
    healed: tuple[Edge, ...]
    steps: list[Step]


def draw_topology(random: Random, end: float, *, located: bool = False) -> Topology:
    """Return a topology with movement until `end` [s]; `located`: all nodes have positions at all times."""
    if located:
        return _draw_located(random, end)
    shape = random.choice(("line", "grid", "scattered", "moving"))
    nodes = random.randint(3, 8)
    if shape == "line":
        edges = tuple((n, n + 1) for n in range(nodes - 1))
        return Topology(nodes, edges, edges, [])
    if shape == "grid":
        columns, rows = random.choice(((2, 2), (3, 2), (2, 3), (4, 2), (3, 3)))
        across = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
        down = [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
        return Topology(columns * rows, (*across, *down), (*across, *down), [])
    side = random.uniform(200.0, 250.0 * nodes**0.5)
    places = [(random.uniform(0, side), random.uniform(0, side)) for _ in range(nodes)]
    steps: list[Step] = [MoveStep(at=0.0, node=n, x=x, y=y) for n, (x, y) in enumerate(places)]
    if shape == "scattered":
        edges = connect(places)
        return Topology(nodes, edges, edges, steps)
    first = _in_range(places)
    steps += _move(random, places, side, end)
    return Topology(nodes, tuple(first), connect(places), steps)


def _draw_located(random: Random, end: float) -> Topology:
    """Place nodes, each in range of an earlier one; some of them move, and return at the end."""
    places = [(0.0, 0.0)]
    for _ in range(random.randint(2, 7)):
        x, y = random.choice(places)
        way, angle = random.uniform(0.2, 0.95) * RANGE, random.uniform(0, tau)
        places.append((x + way * cos(angle), y + way * sin(angle)))
    edges = tuple(_in_range(places))
    start: list[Step] = [MoveStep(at=0.0, node=n, x=x, y=y) for n, (x, y) in enumerate(places)]
    if random.random() < 0.5:
        return Topology(len(places), edges, edges, start)
    steps = _move(random, list(places), 250.0 * len(places) ** 0.5, end)
    back: list[Step] = [MoveStep(at=end, node=n, x=x, y=y) for n, (x, y) in enumerate(places)]
    return Topology(len(places), edges, edges, start + steps + back)


def _move(random: Random, places: list[Point], side: float, end: float) -> list[Step]:
    """Move `places` by random waypoints until `end` [s]; links are updated every second."""
    steps: list[Step] = []
    joined = set(_in_range(places))
    speed = random.choice((2.0, 10.0, 30.0))
    goals = list(places)
    for second in range(int(end)):
        for node, place in enumerate(places):
            if place == goals[node]:
                goals[node] = (random.uniform(0, side), random.uniform(0, side))
                vx, vy = _velocity(place, goals[node], speed)
                steps.append(MoveStep(at=float(second), node=node, x=place[0], y=place[1], vx=vx, vy=vy))
            vx, vy = _velocity(place, goals[node], speed)
            near = dist(place, goals[node]) <= speed
            places[node] = goals[node] if near else (place[0] + vx, place[1] + vy)
        now = set(_in_range(places))
        steps += [LinkUpStep(at=second + 1.0, a=a, b=b) for a, b in sorted(now - joined)]
        steps += [LinkDownStep(at=second + 1.0, a=a, b=b) for a, b in sorted(joined - now)]
        joined = now
    return steps


def _velocity(place: Point, goal: Point, speed: float) -> Point:
    x, y = goal[0] - place[0], goal[1] - place[1]
    way = hypot(x, y)
    return (x / way * speed, y / way * speed) if way else (0.0, 0.0)


def _in_range(places: list[Point]) -> list[Edge]:
    return [(a, b) for a, b in combinations(range(len(places)), 2) if dist(places[a], places[b]) <= RANGE]


def connect(places: list[Point]) -> tuple[Edge, ...]:
    """Return the links within range, and the shortest additional links that connect the network."""
    group = list(range(len(places)))
    pairs = [(dist(places[a], places[b]), a, b) for a, b in combinations(range(len(places)), 2)]
    edges = []
    for far, a, b in sorted(pairs):
        if far <= RANGE or group[a] != group[b]:
            edges.append((a, b))
            group = [group[a] if each == group[b] else each for each in group]
    return tuple(sorted(edges))
