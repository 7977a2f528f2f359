"""Carrying messages on ways that are known, and keeping those that wait for one."""

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
    """Asks for a way to a node, to `salvage` a message of another if only such ones wait for it."""

    def __call__(self, target: NodeId, *, salvage: bool = False) -> None:
        """Ask, unless it was asked for lately."""


class SourceRouting:
    """A node's part in carrying messages."""

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
        "Sees to a packet whose flow is not known here."
        self._unicast = unicast
        self._node = unicast.host.node
        self._id = unicast.host.incarnation << 8
        "Counted from the incarnation on: those of an earlier one are still remembered by others."
        self._looking = False

    def number(self) -> int:
        """An identification for a message of this node."""
        self._id = (self._id + 1) % IDENTIFICATIONS
        return self._id

    def send(self, message: Message, to: NodeId) -> None:
        """Carry a router's message to a node."""
        self.send_or_wait(DsrPacket(self._node, self.number(), 0, (self._node, to), 1, message))

    def send_or_wait(self, message: Steered) -> None:
        """Send a message of one's own on the shortest way that is known, or ask for one."""
        destination = message.route[-1]
        path = self.cache.use(destination, self.host.now())
        if path is not None:
            self.depart(message, path)
        else:
            self.hold(message)
            self.ask(destination)

    def depart(self, message: Steered, path: tuple[NodeId, ...], delay: float = 0.0) -> None:
        """Send a message on a way; a packet of one's own may follow a flow."""
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

    # What is heard.

    def handle(self, packet: DsrPacket, sender: NodeId) -> Drop | None:
        """Hand over what has arrived, pass on the rest."""
        route, at = packet.route, packet.at
        if at == len(route) - 1:
            return self._unicast.user.arrive(packet.payload, packet.origin, sender)
        if self._is_mine(packet):
            # It has come back; a salvaged one may lead through here.
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
        """Hand over what has arrived, pass on what follows a flow that is known."""
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
        self.host.send(onward, flow.way[flow.place + 1])
        return None

    # What is learnt.

    def learn(self, path: tuple[NodeId, ...]) -> None:
        """Keep a way that was asked for, or that one's own words go."""
        if len(path) <= self.parameters.route_limit and self.cache.add(path, self.host.now()):
            self._schedule_send()

    def notice(self, path: tuple[NodeId, ...]) -> None:
        """Keep a way that was seen."""
        if (
            1 < len(path) <= self.parameters.route_limit
            and self.cache.notice(path, self.host.now())
            and len(self.held)
        ):
            self._schedule_send()

    def cut(self, start: NodeId, end: NodeId) -> None:
        """Give up a link, and the ways over it."""
        self.cache.cut(start, end)
        if self.flows is not None:
            self.flows.cut(start, end)

    # What waits.

    def hold(self, message: Steered) -> None:
        """Keep a message until a way is known."""
        now = self.host.now()
        self.drop_expired(now)
        for displaced in self.held.add(message, message.route[-1], now):
            self._drop(displaced, Drop.TABLE_FULL)

    def drop_expired(self, now: float) -> None:
        """Let go what has waited too long."""
        for late in self.held.lapsed(now):
            self._drop(late, Drop.EXPIRED)

    def give_up(self, target: NodeId, most: int | None = None) -> None:
        """A search has failed: let go what waits for it, or the first `most` messages."""
        for waiting in self.held.release(target, most):
            self._drop(waiting, Drop.NO_ROUTE)

    def lose(self, message: Steered, reason: Drop) -> None:
        """Let a message go; the router hears of its own, and of those that it carries."""
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
        """Send what waits and has a way now, `gap` seconds apart."""
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
    """Until somebody is to be asked."""


def _ignore_packet(packet: DsrFlowPacket) -> None:
    """Until somebody sees to it."""
