"""Unit-disk graphs with voids: nodes on a broken ring with spurs, joined where they are in range."""

from itertools import combinations
from math import cos, dist, pi, sin
from random import Random

RANGE = 210.0


def scatter(seed: int, nodes: int = 40) -> list[tuple[float, float]]:
    """Places of a connected network: those of the largest part of what was scattered around a void."""
    random = Random(seed)
    gap = random.uniform(0, 2 * pi)
    places = []
    for _ in range(nodes):
        if random.random() < 0.85:
            angle, away = gap + random.uniform(0.4, 2 * pi - 0.4), random.uniform(300, 480)
        else:
            angle, away = random.uniform(0, 2 * pi), random.uniform(480, 700)
        places.append((1000 + away * cos(angle), 1000 + away * sin(angle)))
    part = max(parts(places), key=len)
    return [places[node] for node in sorted(part)]


def edges(places: list[tuple[float, float]]) -> list[tuple[int, int]]:
    """Who is in range of whom."""
    return [(a, b) for a, b in combinations(range(len(places)), 2) if dist(places[a], places[b]) <= RANGE]


def parts(places: list[tuple[float, float]]) -> list[set[int]]:
    """The connected parts of the network."""
    group = list(range(len(places)))
    for a, b in edges(places):
        old, new = group[a], group[b]
        group = [new if each == old else each for each in group]
    return [{node for node, each in enumerate(group) if each == name} for name in set(group)]
