"""Places in a mesh: where nodes were put, and what a signal between them tells."""

from __future__ import annotations

import math

from roamcast.routing.router import NodeId, Position, Velocity


class NodePositions:
    """Where nodes are, for those that were put somewhere; signals follow the inverse square."""

    def __init__(self) -> None:
        self._put: dict[NodeId, tuple[Position, Velocity, float]] = {}

    def put(self, node: NodeId, position: Position, velocity: Velocity, now: float) -> None:
        """Put a node somewhere, moving from now on."""
        self._put[node] = (position, velocity, now)

    def position(self, node: NodeId, now: float) -> Position:
        """Where a node is."""
        start, velocity, since = self._find(node)
        return Position(start.x + velocity.x * (now - since), start.y + velocity.y * (now - since))

    def velocity(self, node: NodeId) -> Velocity:
        """How it moves."""
        return self._find(node)[1]

    def signal(self, a: NodeId, b: NodeId, now: float) -> float:
        """How strongly two nodes hear each other; nan unless both were put somewhere."""
        if a not in self._put or b not in self._put:
            return math.nan
        return 1.0 / max(1.0, math.dist(self.position(a, now), self.position(b, now))) ** 2

    def distance(self, signal: float) -> float:
        """How far apart nodes are that hear each other like this, and at least 1 m; nan of nan."""
        return math.nan if math.isnan(signal) or signal <= 0 else max(1.0, 1.0 / math.sqrt(signal))

    def _find(self, node: NodeId) -> tuple[Position, Velocity, float]:
        if node not in self._put:
            raise PermissionError("this node has no position; give it one with mesh.place(node, x, y)")
        return self._put[node]
