"""Positions of nodes in a mesh, and the signal strengths between them."""

from __future__ import annotations

import math

from roamcast.routing.router import NodeId, Position, Velocity


class NodePositions:
    """The positions of the nodes that were placed; signals follow the inverse-square law."""

    def __init__(self) -> None:
        self._put: dict[NodeId, tuple[Position, Velocity, float]] = {}

    def put(self, node: NodeId, position: Position, velocity: Velocity, now: float) -> None:
        """Set the position [m] and velocity [m/s] of a node at the time `now` [s]."""
        self._put[node] = (position, velocity, now)

    def position(self, node: NodeId, now: float) -> Position:
        """Return the position of a node at the time `now` [m]."""
        start, velocity, since = self._find(node)
        return Position(start.x + velocity.x * (now - since), start.y + velocity.y * (now - since))

    def velocity(self, node: NodeId) -> Velocity:
        """Return the velocity of a node [m/s]."""
        return self._find(node)[1]

    def signal(self, a: NodeId, b: NodeId, now: float) -> float:
        """Return the signal strength between two nodes; nan unless both were placed."""
        if a not in self._put or b not in self._put:
            return math.nan
        return 1.0 / max(1.0, math.dist(self.position(a, now), self.position(b, now))) ** 2

    def distance(self, signal: float) -> float:
        """Return the distance for a signal strength, at least 1 [m]; nan for nan."""
        return math.nan if math.isnan(signal) or signal <= 0 else max(1.0, 1.0 / math.sqrt(signal))

    def _find(self, node: NodeId) -> tuple[Position, Velocity, float]:
        if node not in self._put:
            raise PermissionError("this node has no position; set one with mesh.place(node, x, y)")
        return self._put[node]
