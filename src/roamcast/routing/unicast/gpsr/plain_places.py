"""Positions of neighbours and the geometry of geographic forwarding, without the compiled kernel.

The rules are those of kernel/routing/places.h; tests compare the two.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple, TypeVar

Spot = tuple[int, int]
"A position in whole centimetres."
Place = TypeVar("Place", bound=tuple[int, int])

TAKEN, STUCK, AROUND = -1, -2, -3


class _Entry(NamedTuple):
    node: int
    expires: float
    spot: Spot


class PlainPlaces:
    """A table of neighbours' positions with leases, in order of renewal."""

    def __init__(self, duration: float, capacity: int) -> None:
        self._duration = duration
        self._capacity = capacity
        self._entries: dict[int, _Entry] = {}
        self._edges: dict[int, _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def renew(self, node: int, place: Spot, now: float) -> None:
        """Store a neighbour's position; a full table evicts the least recently received neighbour."""
        self._entries.pop(node, None)
        if self._entries and len(self._entries) >= self._capacity:
            del self._entries[next(iter(self._entries))]
        self._entries[node] = _Entry(node, now + self._duration, (place[0], place[1]))

    def discard(self, node: int) -> None:
        """Remove a neighbour."""
        self._entries.pop(node, None)

    def sweep(self, now: float) -> None:
        """Remove the neighbours whose leases have expired."""
        for entry in list(self._entries.values()):
            if entry.expires > now:
                break
            del self._entries[entry.node]

    def has(self, node: int, now: float) -> bool:
        """Return whether a node is a neighbour."""
        return self.get(node, now) is not None

    def get(self, node: int, now: float) -> Spot | None:
        """Return the position of a neighbour."""
        entry = self._entries.get(node)
        return entry.spot if entry is not None and entry.expires > now else None

    def nodes(self, now: float) -> list[int]:
        """Return the neighbours in order of their last reception."""
        return [entry.node for entry in self._entries.values() if entry.expires > now]

    def nearer(self, here: Spot, goal: Spot, now: float) -> int | None:
        """Return the neighbour nearest to a goal if it is nearer than this node; of equals, the lower id."""
        best: int | None = None
        least = _squared(here, goal)
        for entry in self._entries.values():
            if entry.expires <= now:
                continue
            away = _squared(entry.spot, goal)
            if away < least or (away == least and best is not None and entry.node < best):
                best, least = entry.node, away
        return best

    def choose(  # noqa: PLR0917 - as the kernel's
        self, destination: int, here: Spot, goal: Spot, radius: int, entered: Spot | None, now: float
    ) -> int:
        """Return the next hop of greedy forwarding, or TAKEN, STUCK or AROUND."""
        if self.has(destination, now):
            return destination
        away = _squared(here, goal)
        if radius > 0 and away <= radius * radius:
            return TAKEN
        if entered is not None and away >= _squared(entered, goal):
            return AROUND
        found = self.nearer(here, goal, now)
        return STUCK if found is None else found

    @staticmethod
    def rounded(position: tuple[float, float], place: type[Place], farthest: float) -> Place:
        """Return a position in metres as whole centimetres, limited to `farthest` from the origin."""
        return tuple.__new__(
            place, (_centimetres(position[0], farthest), _centimetres(position[1], farthest))
        )

    def planarise(self, here: Spot, now: float, relative: bool) -> None:
        """Select the edges of a planar graph: the relative neighbourhood graph or the Gabriel graph."""
        around = [entry for entry in self._entries.values() if entry.expires > now]
        hides = _is_between if relative else _is_inside
        self._edges = {
            end.node: end
            for end in around
            if not any(
                other.node != end.node
                and ((other.spot == end.spot and other.node < end.node) or hides(here, end.spot, other.spot))
                for other in around
            )
        }

    def edges(self) -> list[int]:
        """Return the neighbours over edges of the planar graph."""
        return list(self._edges)

    def next_edge(self, here: Spot, towards: Spot, after: int | None) -> int | None:
        """Return the first edge counter-clockwise from `towards`; the one to `after` comes last."""
        start = (towards[0] - here[0], towards[1] - here[1])
        first: _Entry | None = None
        vector_of_first, turned_first = (0, 0), 0
        for edge in self._edges.values():
            vector = (edge.spot[0] - here[0], edge.spot[1] - here[1])
            turned = 4 if after == edge.node else _quarter(start, vector)
            if first is not None:
                cross = vector[0] * vector_of_first[1] - vector[1] * vector_of_first[0]
                if turned > turned_first:
                    continue
                if turned == turned_first and (cross < 0 or (cross == 0 and edge.node > first.node)):
                    continue
            first, vector_of_first, turned_first = edge, vector, turned
        return None if first is None else first.node

    def change_face(
        self, here: Spot, goal: Spot, entered: Spot, crossed: Spot, hop: int
    ) -> tuple[int, Spot | None]:
        """Return the next hop along the face beyond the line to the goal, and where it crosses that line."""
        found: Spot | None = None
        for _ in range(len(self._edges)):
            edge = self._edges.get(hop)
            if edge is None:
                break
            cut = self.crossing(here, edge.spot, entered, goal)
            if cut is None or _squared(cut, goal) >= _squared(crossed, goal):
                break
            crossed = found = cut
            following = self.next_edge(here, edge.spot, hop)
            assert following is not None
            hop = following
        return hop, found

    @staticmethod
    def crossing(a: Spot, b: Spot, c: Spot, d: Spot) -> Spot | None:
        """Return the point where edge `ab` crosses the line from `c` to `d` [cm].

        Touching is not crossing.
        """
        if (b[0], b[1]) < (a[0], a[1]):
            a, b = b, a
        one, other = _side(c, d, a), _side(c, d, b)
        if one * other >= 0 or _side(a, b, c) * _side(a, b, d) >= 0:
            return None
        share = one - other
        x, y = (
            (2 * (start * share + (end - start) * one) + share) // (2 * share)
            for start, end in zip(a, b, strict=True)
        )
        return x, y


def _squared(a: Spot, b: Spot) -> int:
    x, y = a[0] - b[0], a[1] - b[1]
    return x * x + y * y


def _side(a: Spot, b: Spot, c: Spot) -> int:
    """Return a positive number if `c` is left of the line from `a` to `b`, negative if right, 0 if on it."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _is_inside(u: Spot, v: Spot, w: Spot) -> bool:
    return (w[0] - u[0]) * (w[0] - v[0]) + (w[1] - u[1]) * (w[1] - v[1]) < 0


def _is_between(u: Spot, v: Spot, w: Spot) -> bool:
    return max(_squared(u, w), _squared(v, w)) < _squared(u, v)


def _quarter(start: Spot, vector: Spot) -> int:
    """Return 0 left of the start, 1 straight back, 2 right of it, 3 straight ahead (a whole turn)."""
    cross = start[0] * vector[1] - start[1] * vector[0]
    if cross:
        return 0 if cross > 0 else 2
    return 1 if start[0] * vector[0] + start[1] * vector[1] < 0 else 3


def _centimetres(metres: float, farthest: float) -> int:
    exact = 100 * metres
    return 0 if isnan(exact) else round(min(max(exact, -farthest), farthest))
