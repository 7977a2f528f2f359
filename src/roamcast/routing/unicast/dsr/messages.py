"""The messages of DSR: requests, replies, errors, source-routed packets and flow packets.

Sizes are ns-2's. They equal RFC 4728's except for replies, which contain both ends of the route: 8 B more.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.routing.router import Category, Message, NodeId, Role
from roamcast.wire.fields import Hops, Int, ListOf, Node

LONGEST = 255
"Maximum number of nodes on a route."
MOST_BURDEN = 32_000
"Maximum of the additional size [B]; far more than sixteen nodes, ns-2's longest route, can cause."

Route = Annotated[tuple[Node, ...], ListOf(LONGEST, least=2)]
"Nodes from one end to the other, both included."
Identification = Annotated[int, Int(2)]
"Number of a packet of its origin; part of the network header."
Burden = Annotated[int, Int(2, most=MOST_BURDEN)]
"Additional size of a message, if ns-2's errors are reproduced [B]."
FlowId = Annotated[int, Int(2)]
"Number of a flow of its origin; consecutive flows have odd numbers, and 0 is none."


class DeadLink(NamedTuple):
    """A failed link, as detected by its first node."""

    start: Node
    end: Node


def _walk(route: tuple[NodeId, ...], at: int) -> str | None:
    if len(set(route)) < len(route):
        return "a node occurs twice in a route"
    return None if 0 < at < len(route) else "the index is outside the route"


class InnerError(NamedTuple):
    """An error that could not be delivered, nested in another one."""

    start: Node
    end: Node
    recipient: Node
    "Destination of the failed error."


class DsrRequest(Message, number=56, category=Category.ROUTING, role=Role.ROUTING, dedup_field="flood"):
    """A node searches for a route to a target; the request records its path."""

    target: Node
    id: Identification
    ttl: Hops
    "Remaining hops; part of the network header."
    so_far: Annotated[tuple[Node, ...], ListOf(LONGEST, least=1)]
    "The origin, and the nodes that repeated the request."
    dead: Annotated[tuple[DeadLink, ...], ListOf(1)] = ()
    "The link whose failure caused the request."
    burden: Burden = 0
    "Additional size due to an error of ns-2: each repetition counts the whole header again [B]."

    @property
    def minimum_size(self) -> int:
        """12 B, 4 B for each node on the path but the first, 16 B for an error."""
        return 8 + 4 * len(self.so_far) + 16 * len(self.dead) + self.burden

    @property
    def flood(self) -> int:
        """The id by which duplicates are recognised."""
        return self.so_far[0] << 16 | self.id

    def inconsistency(self) -> str | None:
        """Return an inconsistency: a route with a loop."""
        return "a node occurs twice in a route" if len(set(self.so_far)) < len(self.so_far) else None


class DsrReply(Message, number=57, category=Category.ROUTING, role=Role.ROUTING):
    """A route to a target, sent to the origin of the request, or to a node that could use a shortcut."""

    id: Identification
    route: Route
    "Route of this message."
    at: Hops
    "Index of the receiver on the route."
    found: Route
    "The reported route, from the origin of the request to its target."
    burden: Burden = 0
    "Additional size due to an error of ns-2 (`inflated_salvage`) [B]."

    @property
    def minimum_size(self) -> int:
        """4 B for each node on the route; 5 B, and 4 B for each reported node; a multiple of 4 B."""
        return self.header + self.burden

    @property
    def header(self) -> int:
        """Size without the addition due to ns-2's error [B]."""
        return 4 * len(self.route) + (5 + 4 * len(self.found) + 3) // 4 * 4

    def along(self, route: tuple[NodeId, ...]) -> DsrReply:
        """Return the message with another route."""
        return DsrReply(self.id, route, 1, self.found, self.burden)

    def inconsistency(self) -> str | None:
        """Return an inconsistency: a route with a loop."""
        return _walk(self.route, self.at) or _walk(self.found, 1)


class DsrError(Message, number=58, category=Category.ROUTING, role=Role.ROUTING):
    """A link on the route of a packet has failed."""

    id: Identification
    route: Route
    "Route of this message, to the node that chose the packet's route."
    at: Hops
    dead: DeadLink
    inner: Annotated[tuple[InnerError, ...], ListOf(2)] = ()
    "Errors that failed (`nested_errors`), the latest first; the receiver forwards them."
    burden: Burden = 0
    "Additional size due to an error of ns-2 (`inflated_salvage`) [B]."

    @property
    def minimum_size(self) -> int:
        """4 B for each node on the route, 16 B for each link."""
        return self.header + self.burden

    @property
    def header(self) -> int:
        """Size without the addition due to ns-2's error [B]."""
        return 4 * len(self.route) + 16 * (1 + len(self.inner))

    def along(self, route: tuple[NodeId, ...]) -> DsrError:
        """Return the message with another route."""
        return DsrError(self.id, route, 1, self.dead, self.inner, self.burden)

    def links(self) -> list[tuple[NodeId, NodeId]]:
        """Return all links that the error reports."""
        return [self.dead, *((each.start, each.end) for each in self.inner)]

    def inconsistency(self) -> str | None:
        """Return an inconsistency: a route with a loop."""
        return _walk(self.route, self.at)


class DsrPacket(Message, number=59):
    """A message with its source route."""

    origin: Node
    "Origin of the packet; part of the network header."
    id: Identification
    salvaged: Annotated[int, Int(1, most=15)]
    "Number of times that the packet was salvaged."
    route: Route
    "From the origin, or from the node that salvaged the packet last, to the destination."
    at: Hops
    "Index of the receiver on the route."
    payload: Message
    flow: FlowId = 0
    "The flow that nodes on the route are to store; 0: none."
    burden: Burden = 0
    "Additional size due to an error of ns-2 (`inflated_salvage`) [B]."

    @property
    def minimum_size(self) -> int:
        """4 B for each node on the route, before the message; 8 B for a flow."""
        return self.header + self.burden + self.payload.size

    @property
    def header(self) -> int:
        """Size without the message and without the addition due to ns-2's error [B]."""
        return 4 * len(self.route) + (8 if self.flow else 0)

    def along(self, route: tuple[NodeId, ...]) -> DsrPacket:
        """Return the message with another route, without flow."""
        return DsrPacket(self.origin, self.id, self.salvaged, route, 1, self.payload, 0, self.burden)

    def inconsistency(self) -> str | None:
        """Return an inconsistency: a route with a loop."""
        return _walk(self.route, self.at)


class DsrFlowPacket(Message, number=60):
    """A message that follows a flow, whose route the nodes on it have stored."""

    origin: Node
    "Origin of the packet; part of the network header, as are destination, identification and hops."
    destination: Node
    id: Identification
    flow: FlowId
    "0: the newest flow between the two nodes."
    hops: Hops
    "Hops travelled on reception."
    payload: Message

    @property
    def minimum_size(self) -> int:
        """The message alone, if it follows the newest flow; otherwise 4 B more."""
        return self.payload.size + (4 if self.flow else 0)


class DsrFlowError(Message, number=55, category=Category.ROUTING, role=Role.ROUTING):
    """A packet followed a flow that the sender does not know."""

    id: Identification
    route: Route
    "Route of this message, to the origin of the flow."
    at: Hops
    destination: Node
    "Destination of the flow."
    flow: FlowId
    "0: the newest flow."

    @property
    def minimum_size(self) -> int:
        """4 B for each node on the route, 12 B for the newest flow, 16 B for another."""
        return 4 * len(self.route) + (16 if self.flow else 12)

    def along(self, route: tuple[NodeId, ...]) -> DsrFlowError:
        """Return the message with another route."""
        return DsrFlowError(self.id, route, 1, self.destination, self.flow)

    def inconsistency(self) -> str | None:
        """Return an inconsistency: a route with a loop."""
        return _walk(self.route, self.at)


Steered = DsrPacket | DsrReply | DsrError | DsrFlowError
"The messages that carry a source route."
