"""One hop of geographic forwarding: what a node does with each packet that it receives or sends.

Hosts of the simulator use the compiled version of this class (kernel/python/geo_forwarding.cpp); tests
compare the two.
"""

from __future__ import annotations

from collections.abc import Sized
from math import inf
from typing import TYPE_CHECKING, Any

from roamcast.routing.router import DUPLICATE, Drop, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.seen import Recent
from roamcast.routing.unicast.gpsr.messages import GeoPacket, PerimeterState, PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import AROUND, STUCK, TAKEN, Places

if TYPE_CHECKING:
    from roamcast.routing.unicast.gpsr.gpsr import Gpsr

NextEdge = tuple[NodeId | None, tuple[PerimeterState, ...]]
"The next hop, None if there is none, and the state of the packet on that edge."


class PlainForwarding:
    """The forwarding of one node; `owner` handles what arrives, waits or cannot be forwarded."""

    def __init__(  # noqa: PLR0917 - as the kernel's
        self,
        owner: Gpsr,
        host: Host,
        near: Places,
        held: Sized,
        packet: type[GeoPacket],
        point: type[PointCm],
        face: type[PerimeterState],
        farthest: float,
        perimeter: bool,
        relative: bool,
        planar: float,
        restarts: bool,
        remembered: int,
    ) -> None:
        """Set the rules.

        Coordinates reach to `farthest` [cm]. Packets go around voids if `perimeter` is set; the planar graph
        is the relative neighbourhood graph or the Gabriel graph, and is used for `planar` seconds. `owner` is
        asked for edges that a packet has taken before if `restarts` is set.
        """
        self._owner = owner
        self._host = host
        self._node = host.node
        self._near = near
        self._held = held
        self._packet, self._point, self._face = packet, point, face
        self._farthest = farthest
        self._perimeter = perimeter
        self._relative = relative
        self._planar_duration = planar
        self._planar_until = 0.0
        self._restarts = restarts
        self.spoke = -inf
        "Time at which this node last sent its position [s]."
        self.followed: NodeId = -1
        "The neighbour whose beacons are reported to the owner; negative for none."
        self._beacons: Leases[NodeId, Any] | None = None
        self._here = point(0, 0)
        self._here_at = -1.0
        self._passed = Recent(remembered)
        "Packets by origin, serial and remaining hops: duplicates made by a link would multiply at every hop."

    def __len__(self) -> int:
        return len(self._passed)

    def here(self) -> PointCm:
        """Return this node's position as sent to others."""
        return self._here_at_time(self._host.now())

    def invalidate(self) -> None:
        """Recompute the planar graph at the next use, because a neighbour was removed."""
        self._planar_until = 0.0

    def keep_beacons(self, table: Leases[NodeId, Any]) -> None:
        """Keep the last beacon of each neighbour in a table."""
        self._beacons = table

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Store the sender's position; deliver or forward a packet."""
        if sender == self._node:
            return Drop.MALFORMED
        now, sender_at = self._host.now(), message.here
        self._near.renew(sender, sender_at, now)
        if self._held:
            self._owner.retry_held()
        if type(message) is not self._packet:
            if self._beacons is not None:
                self._beacons.renew(sender, message, now)
            if sender == self.followed:
                self._owner.beacon_of_followed()
            return None
        if not self._passed.add((message.origin << 24) | (message.serial << 8) | message.hops):
            return DUPLICATE
        hop = TAKEN if message.destination == self._node else self._choose(message, now)
        if hop == TAKEN:
            return self._owner.arrive(message.payload, message.origin, sender)
        if message.hops > 1:
            self._forward(message, hop, sender, sender_at)
        else:
            self._owner.expire(message)
        return None

    def send(self, packet: GeoPacket) -> None:
        """Forward a packet without a previous hop, or accept it here in place of its destination."""
        hop = self._choose(packet, self._host.now())
        if hop == TAKEN:
            self._owner.arrive_here(packet)
        else:
            self._forward(packet, hop, None, None)

    def _here_at_time(self, now: float) -> PointCm:
        """Return this node's position at the current time `now`; it is determined once per instant."""
        if now != self._here_at:
            self._here = Places.rounded(self._host.position(), self._point, self._farthest)
            self._here_at = now
        return self._here

    def _choose(self, packet: GeoPacket, now: float) -> NodeId:
        """Return the next hop of greedy forwarding, or TAKEN, STUCK or AROUND."""
        here, face = self._here_at_time(now), packet.face
        entered = face[0].entered if face else None
        return self._near.choose(packet.destination, here, packet.goal, 100 * packet.radius, entered, now)

    def _forward(
        self, packet: GeoPacket, choice: NodeId, sender: NodeId | None, sender_at: PointCm | None
    ) -> None:
        """Send a packet one hop further, greedily or along a face; `sender_at` is where the last hop is."""
        goal = packet.goal
        edge: NextEdge = (None, ())
        if choice == AROUND:
            if sender is not None and sender_at is not None:
                edge = self._follow(goal, packet.face[0], sender, sender_at)
        elif choice != STUCK:
            edge = (choice, ())
        elif self._perimeter:
            edge = self._enter(goal)
        hop, face = edge
        if (
            face
            and hop is not None
            and self._restarts
            and self._owner.walks_again(packet.origin, packet.serial, face[0], hop)
        ):
            hop = None
        if hop is None:
            self._owner.give_up(packet)
            return
        self.spoke = self._here_at
        onward = self._packet(
            packet.origin,
            packet.destination,
            goal,
            packet.radius,
            packet.serial,
            packet.hops - 1,
            self._here,
            face,
            packet.payload,
        )
        self._host.send(onward, hop)

    # Perimeter mode: along the faces of a planar graph, by the right-hand rule.

    def _enter(self, goal: PointCm) -> NextEdge:
        """Return the first edge counter-clockwise from the direction of the goal."""
        self._planarise()
        hop = self._near.next_edge(self._here, goal, None)
        if hop is None:
            return None, ()
        return self._change_face(goal, self._face(self._here, self._here, self._node, hop), hop)

    def _follow(self, goal: PointCm, face: PerimeterState, sender: NodeId, sender_at: PointCm) -> NextEdge:
        """Return the next edge counter-clockwise from the one over which the packet arrived."""
        self._planarise()
        hop = self._near.next_edge(self._here, sender_at, sender)
        if hop is None:
            return None, ()
        if hop == face.first_to and self._node == face.first_from:
            return None, ()  # a complete turn, and the goal is on neither side
        return self._change_face(goal, face, hop)

    def _change_face(self, goal: PointCm, face: PerimeterState, hop: NodeId) -> NextEdge:
        """Change to the next face if the next edge crosses the line to the goal nearer to the goal."""
        hop, cut = self._near.change_face(self._here, goal, face.entered, face.crossed, hop)
        if cut is None:
            return hop, (face,)
        return hop, (self._face(face.entered, self._point(*cut), self._node, hop),)

    def _planarise(self) -> None:
        """Update the planar graph around this node, if it is too old."""
        if self._here_at >= self._planar_until:
            self._near.planarise(self._here, self._here_at, self._relative)
            self._planar_until = self._here_at + self._planar_duration
