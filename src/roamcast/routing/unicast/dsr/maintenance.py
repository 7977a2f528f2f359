"""Route maintenance of DSR: route errors and the salvage of messages after link failures."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from roamcast.routing.router import Drop, Host, Message, NodeId
from roamcast.routing.unicast.dsr.discovery import DsrDiscovery
from roamcast.routing.unicast.dsr.messages import (
    MOST_BURDEN,
    DeadLink,
    DsrError,
    DsrFlowError,
    DsrFlowPacket,
    DsrPacket,
    DsrReply,
    InnerError,
    Steered,
)
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.source_routing import SourceRouting

LINK_HEADER = 58
"Size of ns-2's link and physical headers on a frame [B]."
ANY_ROUTE = (0, 1)
"Placeholder route, so that a message compares equal on any route."


class Maintenance:
    """A node's route maintenance."""

    def __init__(
        self, host: Host, parameters: DsrParameters, routing: SourceRouting, discovery: DsrDiscovery
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.routing = routing
        self.discovery = discovery
        self._node = host.node
        self._others: dict[Steered, None] = {}
        "Replies and errors of other nodes that were salvaged here, oldest first."

    # Link failures.

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Remove the routes over a link, reroute the messages queued for it, and report the failure."""
        self.routing.cut(self._node, to)
        steered = self._steered(message)
        failed = [] if steered is None else [steered]
        if steered is not None:
            self._reroute_queue(steered, to, tried=True)
        for waiting in self.host.withdraw(to):
            steered = self._steered(waiting)
            if steered is not None:
                self._reroute_queue(steered, to, tried=False)
                failed.append(steered)
            elif isinstance(waiting, Message) and type(waiting) is not DsrFlowPacket:
                self.host.send(waiting, to)  # the router's own message: the link layer will report it
        self._report_failure(failed if self.parameters.errors_for_each else failed[:1], to)

    def _steered(self, message: Any) -> Steered | None:
        """Return a message with its source route; a packet whose flow is not stored is dropped."""
        if not isinstance(message, DsrFlowPacket):
            return message if isinstance(message, Steered) else None
        flows = self.routing.flows
        packet = None if flows is None else flows.recall(message)
        if packet is None:
            self.routing.lose(_unsteered(message, self._node), Drop.NO_ROUTE)
        return packet

    def _report_failure(self, messages: list[Steered], to: NodeId) -> None:
        """Send a route error to each node that chose a route over the failed link."""
        informed = {self._node}
        dead = DeadLink(self._node, to)
        for message in messages:
            chooser = message.route[0]
            reports = isinstance(message, DsrPacket | DsrReply) or self.parameters.salvage_control
            if reports and chooser not in informed:
                informed.add(chooser)
                back = message.route[message.at - 1 :: -1]
                self._send_error(message, back, dead)

    def _send_error(self, message: Steered, back: tuple[NodeId, ...], dead: DeadLink) -> None:
        """Send a route error; one that failed on this link is nested, up to the limit."""
        inner: tuple[InnerError, ...] = ()
        if isinstance(message, DsrError) and self.parameters.nested_errors > 1:
            inner = (InnerError(*message.dead, message.route[-1]), *message.inner)
            if len(inner) >= self.parameters.nested_errors:
                return
        self.host.send(DsrError(self.routing.number(), back, 1, dead, inner), back[1])

    def _reroute_queue(self, message: Steered, to: NodeId, *, tried: bool) -> None:
        """Handle a message that the link failed to send, or that was queued for the failed link."""
        if isinstance(message, DsrPacket):
            self._salvage(message)
        elif not self.parameters.salvage_control:
            self.host.drop(message, Drop.NO_ROUTE)
        elif message.at == 1 and message.along(ANY_ROUTE) not in self._others:
            self.routing.send_or_wait(message)
        elif tried and _reports_link(message, self._node, to) and self._has_route(message):
            self.host.drop(message, Drop.NO_ROUTE)
        else:
            self._save(message)

    def _has_route(self, message: Steered) -> bool:
        return self.routing.cache.find(message.route[-1], self.host.now()) is not None

    def _salvage(self, packet: DsrPacket) -> None:
        """Send a packet by another route, up to `max_salvages` times; its origin may buffer it."""
        own = packet.origin == self._node
        salvaged = packet.salvaged + (packet.salvaged > 0 or not own)
        if salvaged > self.parameters.max_salvages:
            self.routing.lose(packet, Drop.HOP_LIMIT)
            return
        burden = packet.burden
        again = DsrPacket(
            packet.origin, packet.id, salvaged, packet.route, packet.at, packet.payload, 0, burden
        )
        if own:
            self.routing.send_or_wait(again)
        else:
            self._save(again)

    def _save(self, message: Steered) -> None:
        """Send another node's message by a cached route, ask the neighbours for one, or drop it."""
        destination = message.route[-1]
        if not isinstance(message, DsrPacket):
            self._others[message.along(ANY_ROUTE)] = None
            if len(self._others) > self.parameters.buffer:
                del self._others[next(iter(self._others))]
        path = self.routing.cache.find(destination, self.host.now())
        if path is not None:
            self.routing.depart(message, path)
        elif self.parameters.salvage_request:
            self.routing.hold(self._inflated(message))
            self.routing.ask(destination, salvage=True)
        else:
            self.routing.lose(message, Drop.NO_ROUTE)

    def _inflated(self, message: Steered) -> Steered:
        """Return a waiting message of another node with ns-2's size, which includes its old header."""
        if not self.parameters.inflated_salvage or isinstance(message, DsrFlowError):
            return message
        burden = min(message.burden + message.header, MOST_BURDEN)
        if isinstance(message, DsrReply):
            return DsrReply(message.id, message.route, message.at, message.found, burden)
        if isinstance(message, DsrError):
            return DsrError(message.id, message.route, message.at, message.dead, message.inner, burden)
        origin, number, salvaged = message.origin, message.id, message.salvaged
        return DsrPacket(origin, number, salvaged, message.route, message.at, message.payload, 0, burden)

    # Route errors from other nodes.

    def handle_error(self, error: DsrError, sender: NodeId) -> Drop | None:
        """Remove the links of a route error, and forward it to its destination."""
        for link in error.links():
            self.routing.cut(*link)
        route, at = error.route, error.at
        if at == len(route) - 1:
            self.accept_error(error)
            return None
        self.routing.notice(route[at:])
        onward = DsrError(error.id, route, at + 1, error.dead, error.inner, error.burden)
        self.host.send(onward, route[at + 1])
        return None

    def accept_error(self, error: DsrError, *, overheard: bool = False) -> None:
        """Record the failed link of an error for this node, and forward the nested errors.

        In ns-2 the destination accepts an error that it overhears on its last hops, and again when it
        arrives. The size of the forwarded error then includes the link header, which ns-2 has not removed
        yet.
        """
        self.discovery.last_error = (self.host.now(), error.dead)
        if not error.inner or error.inner[0].recipient == self._node:
            return
        start, end, recipient = error.inner[0]
        burden = 0
        if self.parameters.inflated_salvage:
            burden = error.burden + error.header + (LINK_HEADER if overheard else 0)
        self.routing.send_or_wait(
            DsrError(
                self.routing.number(),
                (self._node, recipient),
                1,
                DeadLink(start, end),
                error.inner[1:],
                min(burden, MOST_BURDEN),
            )
        )

    # Flows.

    def flow_unknown(self, packet: DsrFlowPacket) -> None:
        """Salvage a packet whose flow is unknown, and send a flow error to its origin."""
        self._salvage(_unsteered(packet, self._node))
        back = (self._node, packet.origin)
        error = DsrFlowError(self.routing.number(), back, 1, packet.destination, packet.flow)
        self.routing.send_or_wait(error)

    def handle_flow_error(self, error: DsrFlowError, sender: NodeId) -> Drop | None:
        """Make a flow of this node carry its route again; forward an error for another node."""
        route, at = error.route, error.at
        if at == len(route) - 1:
            if self.routing.flows is not None:
                self.routing.flows.resend_route(error.destination, error.flow)
            return None
        self.routing.notice(route[at:])
        onward = DsrFlowError(error.id, route, at + 1, error.destination, error.flow)
        self.host.send(onward, route[at + 1])
        return None


def _unsteered(packet: DsrFlowPacket, node: NodeId) -> DsrPacket:
    """Return a packet of a flow as a source-routed one, before it is given a route."""
    return DsrPacket(packet.origin, packet.id, 0, (node, packet.destination), 1, packet.payload)


def _reports_link(message: Steered, start: NodeId, end: NodeId) -> bool:
    """Return whether a message is a reply with a route over a link, in either direction."""
    return isinstance(message, DsrReply) and not {(start, end), (end, start)}.isdisjoint(
        pairwise(message.found)
    )
