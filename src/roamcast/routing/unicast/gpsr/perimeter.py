"""Perimeter mode of GPSR: around voids, along the faces of a planar graph, by the right-hand rule."""

from __future__ import annotations

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.gpsr.messages import PerimeterState, PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters

REMEMBERED = 1024
"Number of packets, and of edges that packets took, that a node remembers."

NextEdge = tuple[NodeId | None, tuple[PerimeterState, ...]]
"The next hop, None if there is none, and the state of the packet on that edge."


class PerimeterMode:
    """One node's part in perimeter mode: its edges of the planar graph, and the edges that packets took."""

    def __init__(self, node: NodeId, parameters: GpsrParameters, near: Places) -> None:
        self._node = node
        self._near = near
        self._relative = parameters.planar == "rng"
        self._planar_duration = parameters.beacon / 4
        self._planar_until = 0.0
        self._walked: dict[tuple[NodeId, int, PointCm, PointCm, NodeId], None] = {}
        "Edges that packets took from here, by packet and face; the oldest is evicted."

    def invalidate(self) -> None:
        """Recompute the planar graph at the next use, because a neighbour was removed."""
        self._planar_until = 0.0

    def enter(self, here: PointCm, goal: PointCm, now: float) -> NextEdge:
        """Return the first edge counter-clockwise from the direction of the goal."""
        self._planarise(here, now)
        hop = self._near.next_edge(here, goal, None)
        if hop is None:
            return None, ()
        return self._change_face(here, goal, PerimeterState(here, here, self._node, hop), hop)

    def follow(  # noqa: PLR0917 - one call per hop of a packet
        self,
        here: PointCm,
        goal: PointCm,
        face: PerimeterState,
        sender: NodeId,
        sender_at: PointCm,
        now: float,
    ) -> NextEdge:
        """Return the next edge counter-clockwise from the one over which the packet arrived."""
        self._planarise(here, now)
        hop = self._near.next_edge(here, sender_at, sender)
        if hop is None:
            return None, ()
        if hop == face.first_to and self._node == face.first_from:
            return None, ()  # a complete turn, and the goal is on neither side
        return self._change_face(here, goal, face, hop)

    def walks_again(self, origin: NodeId, serial: int, face: PerimeterState, hop: NodeId) -> bool:
        """Return whether a packet takes an edge of a face from here again, so that it would circle forever.

        In a planar graph on which all nodes agree, only the first edge of a face can be taken again, and the
        packet is dropped there. Nodes that have moved since their last beacons do not agree, and the packet
        may never return to that edge.
        """
        edge = (origin, serial, face.entered, face.crossed, hop)
        if edge in self._walked:
            return True
        self._walked[edge] = None
        if len(self._walked) > REMEMBERED:
            del self._walked[next(iter(self._walked))]
        return False

    def _change_face(self, here: PointCm, goal: PointCm, face: PerimeterState, hop: NodeId) -> NextEdge:
        """Change to the next face if the next edge crosses the line to the goal nearer to the goal."""
        hop, cut = self._near.change_face(here, goal, face.entered, face.crossed, hop)
        return hop, (face if cut is None else PerimeterState(face.entered, PointCm(*cut), self._node, hop),)

    def _planarise(self, here: PointCm, now: float) -> None:
        """Update the planar graph around this node, if it is older than a quarter of a beacon interval."""
        if now >= self._planar_until:
            self._near.planarise(here, now, self._relative)
            self._planar_until = now + self._planar_duration
