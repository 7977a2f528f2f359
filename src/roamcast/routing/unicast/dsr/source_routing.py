"""Source routing of DSR: sending, forwarding and buffering of messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from roamcast.routing.router import Drop, Message, NodeId
from roamcast.routing.unicast.dsr.flows import Flows
from roamcast.routing.unicast.dsr.messages import DsrFlowPacket, DsrPacket, Steered
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.path_cache import PathCache
from roamcast.routing.unicast.send_buffer import BufferedMessage, SendBuffer
from roamcast.routing.unicast.unicast import Unicast

IDENTIFICATIONS = 2**16


class RequestRoute(Protocol):
    """Starts a search for a route; with `salvage`, if only messages of other nodes wait for it."""

    def __call__(self, target: NodeId, *, salvage: bool = False) -> None:
        """Start a search unless one is in progress."""


class SourceRouting:
    """A node's sending and forwarding of messages."""

    def __init__(
        self, unicast: Unicast, parameters: DsrParameters, cache: PathCache, flows: Flows | None
    ) -> None:
        self.host = unicast.host
        self.parameters = p = parameters
        self.cache = cache
        self.flows = flows
        self.held = SendBuffer(p.buffer, p.buffer_timeout)
        self.ask: RequestRoute = _ignore
        self.flow_unknown: Callable[[DsrFlowPacket], None] = _ignore_packet
        "Called for a packet whose flow is unknown."
        self._unicast = unicast
        self._node = unicast.host.node
        self._id = unicast.host.incarnation << 8
        "Starts from the incarnation, since other nodes remember the ids of earlier ones."
        self._looking = False

    def number(self) -> int:
        """Return the identification of a new message of this node."""
        self._id = (self._id + 1) % IDENTIFICATIONS
        return self._id

    def send(self, message: Message, to: NodeId) -> None:
        """Send a router's message to a node."""
        self.send_or_wait(DsrPacket(self._node, self.number(), 0, (self._node, to), 1, message))

    def send_or_wait(self, message: Steered) -> None:
        """Send a message of this node by the shortest known route, or buffer it and search for one."""
        destination = message.route[-1]
        path = self.cache.use(destination, self.host.now())
        if path is not None:
            self.depart(message, path)
        else:
            self.hold(message)
            self.ask(destination)

    def depart(self, message: Steered, path: tuple[NodeId, ...], delay: float = 0.0) -> None:
        """Send a message by a route; a packet of this node may follow a flow."""
        onward: Steered | DsrFlowPacket = message
        hop = path[1]
        if type(message) is DsrPacket and self.flows is not None and self._is_mine(message):
            onward, hop = self.flows.follow(message, path, self.host.now())
        elif message.route != path or message.at != 1:
            onward = message.along(path)
        if delay:
            self.host.call_later(delay, self.host.send, onward, hop)
        else:
            self.host.send(onward, hop)

    def _is_mine(self, packet: DsrPacket) -> bool:
        return packet.origin == self._node and not packet.salvaged

    # Received messages.

    def handle(self, packet: DsrPacket, sender: NodeId) -> Drop | None:
        """Deliver or forward a packet."""
        route, at = packet.route, packet.at
        if at == len(route) - 1:
            return self._unicast.user.arrive(packet.payload, packet.origin, sender)
        if self._is_mine(packet):
            # The packet has returned; a salvaged one may pass its origin.
            self.host.drop(packet, Drop.HOP_LIMIT, route[-1])
            return None
        if packet.flow and self.flows is not None:
            self.flows.learn(packet, self.host.now())
        self.notice(route[at:])
        onward = DsrPacket(
            packet.origin,
            packet.id,
            packet.salvaged,
            route,
            at + 1,
            packet.payload,
            packet.flow,
            packet.burden,
        )
        self.host.send(onward, route[at + 1])
        return None

    def handle_flow_packet(self, packet: DsrFlowPacket, sender: NodeId) -> Drop | None:
        """Deliver a packet, or forward it along a known flow."""
        if packet.destination == self._node:
            return self._unicast.user.arrive(packet.payload, packet.origin, sender)
        if packet.origin == self._node:
            self.host.drop(packet, Drop.HOP_LIMIT, packet.destination)
            return None
        flow = None if self.flows is None else self.flows.find(packet, self.host.now())
        if flow is None:
            self.flow_unknown(packet)
            return None
        onward = DsrFlowPacket(
            packet.origin, packet.destination, packet.id, packet.flow, packet.hops + 1, packet.payload
        )
        self.host.send(onward, flow.route[flow.index + 1])
        return None

    # Learning of routes.

    def learn(self, path: tuple[NodeId, ...]) -> None:
        """Cache a requested route, or one that this node's messages use."""
        if len(path) <= self.parameters.route_limit and self.cache.add(path, self.host.now()):
            self._schedule_send()

    def notice(self, path: tuple[NodeId, ...]) -> None:
        """Cache a route that was seen in a message."""
        if (
            1 < len(path) <= self.parameters.route_limit
            and self.cache.notice(path, self.host.now())
            and len(self.held)
        ):
            self._schedule_send()

    def cut(self, start: NodeId, end: NodeId) -> None:
        """Remove a link and the routes over it."""
        self.cache.cut(start, end)
        if self.flows is not None:
            self.flows.cut(start, end)

    # The buffer.

    def hold(self, message: Steered) -> None:
        """Buffer a message until a route is known."""
        now = self.host.now()
        self.drop_expired(now)
        for displaced in self.held.add(message, message.route[-1], now):
            self._drop(displaced, Drop.TABLE_FULL)

    def drop_expired(self, now: float) -> None:
        """Drop the expired messages."""
        for late in self.held.lapsed(now):
            self._drop(late, Drop.EXPIRED)

    def abandon(self, target: NodeId, most: int | None = None) -> None:
        """Drop the messages of a failed search, or the first `most` of them."""
        for waiting in self.held.release(target, most):
            self._drop(waiting, Drop.NO_ROUTE)

    def lose(self, message: Steered, reason: Drop) -> None:
        """Drop a message; failures of the router's messages are reported to the router."""
        if isinstance(message, DsrPacket):
            self._unicast.fail(message.payload, message.origin, message.route[-1], reason)
        else:
            self.host.drop(message, reason)

    def _drop(self, waiting: BufferedMessage, reason: Drop) -> None:
        assert isinstance(waiting.message, Steered)
        self.lose(waiting.message, reason)

    def _schedule_send(self) -> None:
        if len(self.held) and not self._looking:
            self._looking = True
            check = self.parameters.buffer_check
            self.host.call_later(1.5 * check * self.host.random.random() if check else 0.0, self.send_waiting)

    def send_waiting(self, gap: float = 0.0) -> None:
        """Send the buffered messages that have a route now, at intervals of `gap` [s]."""
        self._looking = False
        now, delay = self.host.now(), 0.0
        self.drop_expired(now)
        for destination in self.held.destinations():
            path = self.cache.use(destination, now)
            if path is None:
                continue
            for waiting in self.held.release(destination):
                self.depart(self._with_age(waiting, now + delay), path, delay)
                delay += gap

    def _with_age(self, waiting: BufferedMessage, now: float) -> Steered:
        message = waiting.message
        assert isinstance(message, Steered)
        if not isinstance(message, DsrPacket):
            return message
        older = self._unicast.user.add_age(message.payload, now - waiting.since)
        burden = message.burden
        return DsrPacket(message.origin, message.id, message.salvaged, message.route, 1, older, 0, burden)


def _ignore(target: NodeId, *, salvage: bool = False) -> None:
    """Ignore a search; the default callback."""


def _ignore_packet(packet: DsrFlowPacket) -> None:
    """Ignore a packet; the default callback."""
