"""GPSR (Karp and Kung 2000): greedy geographic forwarding with perimeter mode.

The next hop is the neighbour nearest to the goal. If no neighbour is nearer than the node itself, the packet
goes around the void in perimeter mode.

A node gets its own position from its host, and its neighbours' positions from their messages. A packet
carries its goal and, in perimeter mode, where the mode began and the current face. Perimeter mode follows the
faces of a planar graph that the line from there to the goal crosses, by the right-hand rule, and ends at a
node that is nearer to the goal than where it began.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.neighbours import TICK
from roamcast.routing.state.seen import Recent
from roamcast.routing.unicast.gpsr.forwarding import REMEMBERED, new_forwarding
from roamcast.routing.unicast.gpsr.messages import (
    ANYONE,
    Beacon,
    GeoPacket,
    PerimeterState,
    PointCm,
)
from roamcast.routing.unicast.gpsr.neighbourhood import Places
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters
from roamcast.routing.unicast.unicast import Unicast, UnicastUser


def _ignore() -> None:
    """Ignore a beacon; the default callback."""


class Gpsr(Unicast):
    """One node's instance of GPSR."""

    parameters_type = GpsrParameters
    messages = (Beacon, GeoPacket)
    promiscuous = True
    reasons = Drop
    "The reasons that the compiled forwarding gives."

    def __init__(self, host: Host, parameters: GpsrParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self._node = host.node
        self.near = Places(p.silence, p.neighbours)
        "Last known position of each neighbour."
        self.locate: Callable[[NodeId], PointCm | None] = self.position_of
        "Returns the position of a node, as far as the router knows it."
        self.beacon_of_followed: Callable[[], object] = _ignore
        "Called after each beacon of the neighbour `forwarding.followed`."
        self.make_beacon: Callable[[PointCm], Message] = Beacon
        "Makes a beacon; a router may put the position into its own beacons."
        self._interval = 0.0
        "Time from when this node last sent its position to the next beacon [s]."
        self._held: deque[tuple[float, NodeId, Message]] = deque()
        self.forwarding = new_forwarding(self, host, p, self.near, self._held)
        self._serial = host.random.getrandbits(16)
        self._walked: dict[tuple[NodeId, int, PointCm, PointCm, NodeId], None] = {}
        "Edges that packets took from here, by packet and face; the oldest is evicted."
        self._restarted = Recent(REMEMBERED)
        "Packets by origin and serial that were restarted here."

    # Calls of the router.

    def start(self) -> None:
        """Start the beacons, each node with a random phase."""
        self.host.call_later(self.host.random.random() * self.parameters.beacon, self._beacon)

    def here(self) -> PointCm:
        """Return this node's position as sent to others; it is determined once per instant."""
        return self.forwarding.here()

    def send(self, message: Message, to: NodeId) -> None:
        """Send a message to a node at its known position, or queue it until the position is known."""
        place = self.locate(to)
        if to == self._node:
            self.host.drop(message, Drop.MALFORMED)
        elif place is None or not len(self.near):
            self._hold(message, to)
        else:
            self.send_to(message, to, place)

    def send_to(self, message: Message, to: NodeId, goal: PointCm, radius: int = 0) -> None:
        """Send a message to a node at position `goal`, or to the first node within `radius` [m] of it.

        With `ANYONE` as destination, any node within `radius` accepts it.
        """
        self.forwarding.send(self._packet(message, to, goal, radius))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Store the sender's position; deliver or forward a packet."""
        return self.forwarding.receive(message, sender, signal)

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Store the sender's position."""
        here = getattr(message, "here", None)
        if here is not None and sender != self._node:
            self.hear(sender, here, self.host.now())

    def hear(self, neighbour: NodeId, place: PointCm, now: float) -> None:
        """Store a neighbour's position."""
        self.near.renew(neighbour, place, now)
        if self._held:
            self.retry_held()

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Remove a neighbour after a link failure, and reroute its packets."""
        self.near.discard(to)
        self.forwarding.invalidate()
        waiting = self.host.withdraw(to)
        for each in (message, *waiting):
            if type(each) is GeoPacket:
                self._reroute(each)
            elif each is not message:
                self.host.send(each, to)  # the router's own message: the link layer will report it

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """Return the next hop of greedy forwarding."""
        place = self.locate(destination)
        if self.near.has(destination, self.host.now()):
            return destination
        return None if place is None else self.nearer(place)

    def neighbours(self) -> Collection[NodeId]:
        """Return the neighbours with recent positions."""
        return self.near.nodes(self.host.now())

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the tables of neighbours, waiting messages and forwarded packets."""
        near, held, passed = len(self.near), len(self._held), len(self.forwarding)
        volume = sum(message.size for _, _, message in self._held)
        return {
            "near": Footprint(near, 18 * near, self.parameters.neighbours),
            "held": Footprint(held, volume, self.parameters.queue_limit),
            "packets": Footprint(passed, 8 * passed, REMEMBERED),
        }

    def position_of(self, neighbour: NodeId) -> PointCm | None:
        """Return the last known position of a neighbour."""
        found = self.near.get(neighbour, self.host.now())
        return None if found is None else PointCm(*found)

    def nearer(self, goal: PointCm) -> NodeId | None:
        """Return the neighbour nearest to a position, if it is nearer than this node."""
        return self.near.nearer(self.here(), goal, self.host.now())

    # Packets.

    def _packet(self, message: Message, to: NodeId, goal: PointCm, radius: int) -> GeoPacket:
        limit = self.parameters.hop_limit
        self._serial = (self._serial + 1) & 0xFFFF
        return GeoPacket(self._node, to, goal, radius, self._serial, limit + 1, self.here(), (), message)

    # Callbacks of the forwarding.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Pass the content of a packet for this node to the router."""
        return self.user.arrive(message, origin, sender)

    def arrive_here(self, packet: GeoPacket) -> None:
        """Pass the content of a packet to the router without a previous hop."""
        reason = self.user.arrive(packet.payload, packet.origin, self._node)
        if reason is not None:
            self.host.drop(packet.payload, reason)

    def expire(self, packet: GeoPacket) -> None:
        """Report a packet that has reached its hop limit."""
        self.fail(packet.payload, packet.origin, packet.destination, Drop.HOP_LIMIT)

    def give_up(self, packet: GeoPacket) -> None:
        """Restart a packet without a next hop after a beacon interval, with updated positions.

        A node restarts a packet once, and only if the parameters say so; otherwise it reports the failure.
        """
        p = self.parameters
        if p.restart and p.perimeter and self._restarted.add(packet.origin << 16 | packet.serial):
            self.host.call_later(p.beacon, self.forwarding.send, replace(packet, face=()))
        else:
            self.fail(packet.payload, packet.origin, packet.destination, Drop.NO_ROUTE)

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

    def _reroute(self, packet: GeoPacket) -> None:
        """Send a packet by another next hop after a link failure."""
        if packet.hops <= 1:
            self.fail(packet.payload, packet.origin, packet.destination, Drop.HOP_LIMIT)
        else:
            # The planar graph has changed, and the face state of the packet is no longer valid.
            self.forwarding.send(replace(packet, face=()))

    # Beacons and waiting messages.

    def _beacon(self) -> None:
        """Send a beacon, unless a packet has replaced it: then wait for a whole interval after the packet."""
        p, now = self.parameters, self.host.now()
        wait = self.forwarding.spoke + self._interval - now if p.implicit else 0.0
        due = wait <= TICK
        if due:
            self.forwarding.spoke = now
            self.host.broadcast(self.make_beacon(self.here()))
        self.near.sweep(now)
        if self._held:
            self.retry_held()
        if due:
            self._interval = wait = p.beacon * (0.5 + self.host.random.random())
        self.host.call_later(wait, self._beacon)

    def _hold(self, message: Message, to: NodeId) -> None:
        self._held.append((self.host.now(), to, message))
        if len(self._held) > self.parameters.queue_limit:
            _, destination, evicted = self._held.popleft()
            self.fail(evicted, self._node, destination, Drop.TABLE_FULL)

    def retry_held(self) -> None:
        """Send the waiting messages that can be sent now; drop the expired ones."""
        now = self.host.now()
        waiting = list(self._held)
        self._held.clear()
        for since, to, message in waiting:
            place = self.locate(to)
            if place is not None and len(self.near):
                self.send_to(self.user.add_age(message, now - since), to, place)
            elif now - since >= self.parameters.queue_timeout:
                self.fail(message, self._node, to, Drop.NO_ROUTE)
            else:
                self._held.append((since, to, message))


__all__ = ["ANYONE", "Gpsr"]
