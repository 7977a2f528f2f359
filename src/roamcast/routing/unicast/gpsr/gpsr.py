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
from math import inf
from typing import Any

from msgspec.structs import replace

from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.neighbours import TICK
from roamcast.routing.state.seen import Recent
from roamcast.routing.unicast.gpsr.messages import (
    ANYONE,
    FARTHEST,
    Beacon,
    GeoPacket,
    PointCm,
)
from roamcast.routing.unicast.gpsr.neighbourhood import AROUND, STUCK, TAKEN, Places
from roamcast.routing.unicast.gpsr.parameters import GpsrParameters
from roamcast.routing.unicast.gpsr.perimeter import REMEMBERED, PerimeterMode
from roamcast.routing.unicast.unicast import Unicast, UnicastUser


class Gpsr(Unicast):
    """One node's instance of GPSR."""

    parameters_type = GpsrParameters
    messages = (Beacon, GeoPacket)
    promiscuous = True

    def __init__(self, host: Host, parameters: GpsrParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self._node = host.node
        self._restarts = p.restart
        self.near = Places(p.silence, p.neighbours)
        "Last known position of each neighbour."
        self.locate: Callable[[NodeId], PointCm | None] = self.position_of
        "Returns the position of a node, as far as the router knows it."
        self.make_beacon: Callable[[PointCm], Message] = Beacon
        "Makes a beacon; a router may put the position into its own beacons."
        self._spoke = -inf
        "Time at which this node last sent its position [s]."
        self._interval = 0.0
        "Time from then to the next beacon [s]."
        self._held: deque[tuple[float, NodeId, Message]] = deque()
        self._perimeter = PerimeterMode(host.node, p, self.near)
        self._here = PointCm(0, 0)
        self._here_at = -1.0
        self._serial = host.random.getrandbits(16)
        self._passed = Recent(REMEMBERED)
        "Packets by origin, serial and remaining hops: duplicates made by a link would multiply at every hop."
        self._restarted = Recent(REMEMBERED)
        "Packets by origin and serial that were restarted here."

    # Calls of the router.

    def start(self) -> None:
        """Start the beacons, each node with a random phase."""
        self.host.call_later(self.host.random.random() * self.parameters.beacon, self._beacon)

    def here(self) -> PointCm:
        """Return this node's position as sent to others."""
        return self._here_at_time(self.host.now())

    def _here_at_time(self, now: float) -> PointCm:
        """Return this node's position at the current time `now`; it is determined once per instant."""
        if now != self._here_at:
            self._here, self._here_at = Places.rounded(self.host.position(), PointCm, FARTHEST), now
        return self._here

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
        self._deliver_or_forward(self._packet(message, to, goal, radius))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Store the sender's position; deliver or forward a packet."""
        node = self._node
        if sender == node:
            return Drop.MALFORMED
        now, sender_at = self.host.now(), message.here
        self.near.renew(sender, sender_at, now)
        if self._held:
            self._retry_held()
        if type(message) is not GeoPacket:
            return None
        hops = message.hops
        if not self._passed.add((message.origin << 24) | (message.serial << 8) | hops):
            return DUPLICATE
        hop = TAKEN if message.destination == node else self._choose(message, now)
        if hop == TAKEN:
            return self.user.arrive(message.payload, message.origin, sender)
        if hops > 1:
            self._forward(message, hop, sender, sender_at)
        else:
            self.fail(message.payload, message.origin, message.destination, Drop.HOP_LIMIT)
        return None

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Store the sender's position."""
        here = getattr(message, "here", None)
        if here is not None and sender != self._node:
            self.hear(sender, here, self.host.now())

    def hear(self, neighbour: NodeId, place: PointCm, now: float) -> None:
        """Store a neighbour's position."""
        self.near.renew(neighbour, place, now)
        if self._held:
            self._retry_held()

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Remove a neighbour after a link failure, and reroute its packets."""
        self.near.discard(to)
        self._perimeter.invalidate()
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
        near, held = len(self.near), len(self._held)
        volume = sum(message.size for _, _, message in self._held)
        return {
            "near": Footprint(near, 18 * near, self.parameters.neighbours),
            "held": Footprint(held, volume, self.parameters.queue_limit),
            "packets": Footprint(len(self._passed), 8 * len(self._passed), REMEMBERED),
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

    def _deliver_or_forward(self, packet: GeoPacket) -> None:
        """Forward a packet without a previous hop, or accept it here in place of its destination."""
        hop = self._choose(packet, self.host.now())
        if hop == TAKEN:
            self._arrive_here(packet)
        else:
            self._forward(packet, hop, None, None)

    def _choose(self, packet: GeoPacket, now: float) -> NodeId:
        """Return the next hop of greedy forwarding, or TAKEN, STUCK or AROUND."""
        face = packet.face
        here = self._here_at_time(now)
        entered = face[0].entered if face else None
        return self.near.choose(packet.destination, here, packet.goal, 100 * packet.radius, entered, now)

    def _forward(
        self, packet: GeoPacket, choice: NodeId, sender: NodeId | None, sender_at: PointCm | None
    ) -> None:
        """Send a packet one hop further, greedily or along a face.

        `sender_at` is the position of the previous hop.
        """
        here, goal, face = self._here, packet.goal, packet.face  # `_choose` has just determined the position
        hop: NodeId | None = choice
        if choice == AROUND:
            hop = None
            if sender is not None and sender_at is not None:
                hop, face = self._perimeter.follow(here, goal, face[0], sender, sender_at, self._here_at)
        else:
            face = ()
            if choice == STUCK:
                hop, face = (
                    self._perimeter.enter(here, goal, self._here_at)
                    if self.parameters.perimeter
                    else (None, ())
                )
        if (
            face
            and hop is not None
            and self._restarts
            and self._perimeter.walks_again(packet.origin, packet.serial, face[0], hop)
        ):
            hop = None
        if hop is None:
            if not self._restart(packet):
                self.fail(packet.payload, packet.origin, packet.destination, Drop.NO_ROUTE)
            return
        self._spoke = self._here_at
        onward = GeoPacket(
            packet.origin,
            packet.destination,
            goal,
            packet.radius,
            packet.serial,
            packet.hops - 1,
            here,
            face,
            packet.payload,
        )
        self.host.send(onward, hop)

    def _restart(self, packet: GeoPacket) -> bool:
        """Restart a packet after a beacon interval, with updated positions, once per node; return whether."""
        p = self.parameters
        if not p.restart or not p.perimeter or not self._restarted.add(packet.origin << 16 | packet.serial):
            return False
        again = replace(packet, face=())
        self.host.call_later(p.beacon, self._deliver_or_forward, again)
        return True

    def _reroute(self, packet: GeoPacket) -> None:
        """Send a packet by another next hop after a link failure."""
        if packet.hops <= 1:
            self.fail(packet.payload, packet.origin, packet.destination, Drop.HOP_LIMIT)
        else:
            # The planar graph has changed, and the face state of the packet is no longer valid.
            self._deliver_or_forward(replace(packet, face=()))

    def _arrive_here(self, packet: GeoPacket) -> None:
        reason = self.user.arrive(packet.payload, packet.origin, self._node)
        if reason is not None:
            self.host.drop(packet.payload, reason)

    # Beacons and waiting messages.

    def _beacon(self) -> None:
        """Send a beacon, unless a packet has replaced it: then wait for a whole interval after the packet."""
        p, now = self.parameters, self.host.now()
        wait = self._spoke + self._interval - now if p.implicit else 0.0
        due = wait <= TICK
        if due:
            self._spoke = now
            self.host.broadcast(self.make_beacon(self.here()))
        self.near.sweep(now)
        if self._held:
            self._retry_held()
        if due:
            self._interval = wait = p.beacon * (0.5 + self.host.random.random())
        self.host.call_later(wait, self._beacon)

    def _hold(self, message: Message, to: NodeId) -> None:
        self._held.append((self.host.now(), to, message))
        if len(self._held) > self.parameters.queue_limit:
            _, destination, evicted = self._held.popleft()
            self.fail(evicted, self._node, destination, Drop.TABLE_FULL)

    def _retry_held(self) -> None:
        """Send the waiting messages that can be sent now; drop the expired ones."""
        now = self.host.now()
        waiting, self._held = self._held, deque()
        for since, to, message in waiting:
            place = self.locate(to)
            if place is not None and len(self.near):
                self.send_to(self.user.add_age(message, now - since), to, place)
            elif now - since >= self.parameters.queue_timeout:
                self.fail(message, self._node, to, Drop.NO_ROUTE)
            else:
                self._held.append((since, to, message))


__all__ = ["ANYONE", "Gpsr"]
