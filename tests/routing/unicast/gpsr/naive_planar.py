"""The slow twin of the kernel's geometry: planar graphs, the right-hand rule, and where edges cross a line.

All of it is exact: places are whole numbers, and a crossing is rounded to one in the same way from both ends
of its edge, so that two nodes never disagree about the side on which a face lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.gpsr.messages import PointCm


def squared(a: PointCm, b: PointCm) -> int:
    """The square of the distance between two places, in cm²."""
    x, y = a[0] - b[0], a[1] - b[1]
    return x * x + y * y


def gabriel(here: PointCm, around: Mapping[NodeId, PointCm]) -> list[NodeId]:
    """The neighbours with nobody in the circle whose diameter is the edge to them."""
    return _without_witness(
        here,
        around,
        lambda u, v, w: (w[0] - u[0]) * (w[0] - v[0]) + (w[1] - u[1]) * (w[1] - v[1]) < 0,
    )


def relative(here: PointCm, around: Mapping[NodeId, PointCm]) -> list[NodeId]:
    """The neighbours with nobody nearer to both ends of the edge than these are to each other."""
    return _without_witness(here, around, lambda u, v, w: max(squared(u, w), squared(v, w)) < squared(u, v))


PLANAR = {"gabriel": gabriel, "rng": relative}
"By the name that a parameter has."


def next_edge(
    here: PointCm,
    edges: Iterable[NodeId],
    around: Mapping[NodeId, PointCm],
    towards: PointCm,
    after: NodeId | None,
) -> NodeId | None:
    """The first of `edges` counter-clockwise from the direction `towards`; `after`, whose direction that
    is, comes last. Of edges in one direction the lower node comes first."""
    start = (towards[0] - here[0], towards[1] - here[1])

    def angle(node: NodeId) -> _Turn:
        place = around[node]
        return _Turn(start, (place[0] - here[0], place[1] - here[1]), last=node == after)

    return min(((angle(node), node) for node in edges), default=(None, None))[1]


def crossing(a: PointCm, b: PointCm, c: PointCm, d: PointCm) -> PointCm | None:
    """Where the edge `ab` and the line from `c` to `d` cut each other, rounded; None if they do not.

    Merely touching is no cut: who stands on the line is nearer to its end than its beginning is.
    """
    if b < a:
        a, b = b, a
    one, other = _side(c, d, a), _side(c, d, b)
    if one * other >= 0 or _side(a, b, c) * _side(a, b, d) >= 0:
        return None
    share = one - other
    # To the nearest whole centimetre, halves up, by whole numbers alone.
    x = (2 * (a[0] * share + (b[0] - a[0]) * one) + share) // (2 * share)
    y = (2 * (a[1] * share + (b[1] - a[1]) * one) + share) // (2 * share)
    return PointCm(x, y)


def _side(a: PointCm, b: PointCm, c: PointCm) -> int:
    """Positive where `c` lies left of the line from `a` to `b`, negative on its right, 0 on it."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _without_witness(
    here: PointCm, around: Mapping[NodeId, PointCm], between: Callable[[PointCm, PointCm, PointCm], bool]
) -> list[NodeId]:
    places = around.items()
    kept = []
    for node, place in places:
        for other, witness in places:
            if other != node and between(here, place, witness):
                break
        else:
            # Of several at one place, all but the lowest hide behind it: their edges would lie on each other.
            if not any(witness == place and other < node for other, witness in places):
                kept.append(node)
    return kept


class _Turn:
    """How far a direction is turned counter-clockwise from another: no turn at all counts as a whole one."""

    __slots__ = ("half", "last", "vector")

    def __init__(self, start: tuple[int, int], vector: tuple[int, int], last: bool) -> None:
        cross = start[0] * vector[1] - start[1] * vector[0]
        dot = start[0] * vector[0] + start[1] * vector[1]
        # 0: left of the start, 1: straight back, 2: right of it, 3: straight ahead.
        self.half = 0 if cross > 0 else 2 if cross < 0 else 1 if dot < 0 else 3
        self.vector = vector
        self.last = last

    def __lt__(self, other: _Turn) -> bool:
        if self.last != other.last:
            return other.last
        if self.half != other.half:
            return self.half < other.half
        return self.vector[0] * other.vector[1] - self.vector[1] * other.vector[0] > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turn) and not self < other and not other < self

    __hash__ = None  # type: ignore[assignment]
