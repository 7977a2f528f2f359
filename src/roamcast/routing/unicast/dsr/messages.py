"""What DSR says: requests, replies, errors, and packets that carry their whole way, or follow a flow.

Sizes are ns-2's, which are RFC 4728's but for replies: those name both ends of the way, 8 bytes more.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.routing.router import Category, Message, NodeId, Role
from roamcast.wire.fields import Hops, Int, ListOf, Node

LONGEST = 255
"Nodes on a way."
MOST_BURDEN = 32_000
"Bytes: far more than sixteen nodes, ns-2's longest way, can add up to."

Way = Annotated[tuple[Node, ...], ListOf(LONGEST, least=2)]
"Nodes from one end to the other, both included."
Identification = Annotated[int, Int(2)]
"Of a packet among its origin's; stands in the network header."
Burden = Annotated[int, Int(2, most=MOST_BURDEN)]
"Bytes that a message counts beyond its own, where ns-2's faults are followed."
FlowId = Annotated[int, Int(2)]
"Of a flow among its origin's; those that follow each other there are odd, and 0 is none."


class DeadLink(NamedTuple):
    """A link that has failed, as the node at its beginning found out."""

    start: Node
    end: Node


def _walk(way: tuple[NodeId, ...], at: int) -> str | None:
    if len(set(way)) < len(way):
        return "a node twice on a way"
    return None if 0 < at < len(way) else "beside its way"


class InnerError(NamedTuple):
    """An error that failed on its way, told inside of another one."""

    start: Node
    end: Node
    tell: Node
    "The node that the failed error was for."


class DsrRequest(Message, number=56, category=Category.ROUTING, role=Role.FINDS_ROUTE, dedup_field="flood"):
    """Who knows a way to a node? With the way that it has come."""

    target: Node
    id: Identification
    ttl: Hops
    "How many more hops it may travel; stands in the network header."
    so_far: Annotated[tuple[Node, ...], ListOf(LONGEST, least=1)]
    "Who asked, and who has passed it on."
    dead: Annotated[tuple[DeadLink, ...], ListOf(1)] = ()
    "The link whose failure made the origin ask."
    burden: Burden = 0
    "Bytes that ns-2's fault adds: each repetition counts the whole header again."

    @property
    def minimum_size(self) -> int:
        """Twelve bytes, four for each node on the way but the first, sixteen for an error."""
        return 8 + 4 * len(self.so_far) + 16 * len(self.dead) + self.burden

    @property
    def flood(self) -> int:
        """By what copies of it are known."""
        return self.so_far[0] << 16 | self.id

    def inconsistency(self) -> str | None:
        """A way does not meet itself."""
        return "a node twice on a way" if len(set(self.so_far)) < len(self.so_far) else None


class DsrReply(Message, number=57, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """A way to a node, told to who asked for it, or to who could go a shorter one."""

    id: Identification
    route: Way
    "That of this message."
    at: Hops
    "The place on it of who is to hear this."
    found: Way
    "From who asked to who was asked for."
    burden: Burden = 0
    "Bytes that ns-2's fault adds (`inflated_salvage`)."

    @property
    def minimum_size(self) -> int:
        """Four bytes for each node on the route; five, and four for each node found; a multiple of four."""
        return self.header + self.burden

    @property
    def header(self) -> int:
        """Without what ns-2's fault adds."""
        return 4 * len(self.route) + (5 + 4 * len(self.found) + 3) // 4 * 4

    def along(self, way: tuple[NodeId, ...]) -> DsrReply:
        """The same, on another way."""
        return DsrReply(self.id, way, 1, self.found, self.burden)

    def inconsistency(self) -> str | None:
        """No way meets itself."""
        return _walk(self.route, self.at) or _walk(self.found, 1)


class DsrError(Message, number=58, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """A link on the way of a packet has failed."""

    id: Identification
    route: Way
    "That of this message, to who sent the packet on that way."
    at: Hops
    dead: DeadLink
    inner: Annotated[tuple[InnerError, ...], ListOf(2)] = ()
    "Errors that failed (`nested_errors`), the last one first; who gets this sends them on."
    burden: Burden = 0
    "Bytes that ns-2's fault adds (`inflated_salvage`)."

    @property
    def minimum_size(self) -> int:
        """Four bytes for each node on the route, sixteen for each link."""
        return self.header + self.burden

    @property
    def header(self) -> int:
        """Without what ns-2's fault adds."""
        return 4 * len(self.route) + 16 * (1 + len(self.inner))

    def along(self, way: tuple[NodeId, ...]) -> DsrError:
        """The same, on another way."""
        return DsrError(self.id, way, 1, self.dead, self.inner, self.burden)

    def links(self) -> list[tuple[NodeId, NodeId]]:
        """All links that it tells of."""
        return [self.dead, *((each.start, each.end) for each in self.inner)]

    def inconsistency(self) -> str | None:
        """A way does not meet itself."""
        return _walk(self.route, self.at)


class DsrPacket(Message, number=59):
    """A message with the whole way that it is to go."""

    origin: Node
    "Who sent it; stands in the network header."
    id: Identification
    salvaged: Annotated[int, Int(1, most=15)]
    "How often it was given another way."
    route: Way
    "From its origin, or from the node that salvaged it last, to its destination."
    at: Hops
    "The place on it of who is to hear this."
    payload: Message
    flow: FlowId = 0
    "The flow that nodes on the way are to remember; 0: none."
    burden: Burden = 0
    "Bytes that ns-2's fault adds (`inflated_salvage`)."

    @property
    def minimum_size(self) -> int:
        """Four bytes for each node on the route, before the message; eight to tell of a flow."""
        return self.header + self.burden + self.payload.size

    @property
    def header(self) -> int:
        """Without the message, and without what ns-2's fault adds."""
        return 4 * len(self.route) + (8 if self.flow else 0)

    def along(self, way: tuple[NodeId, ...]) -> DsrPacket:
        """The same, on another way; that is no flow's."""
        return DsrPacket(self.origin, self.id, self.salvaged, way, 1, self.payload, 0, self.burden)

    def inconsistency(self) -> str | None:
        """A way does not meet itself."""
        return _walk(self.route, self.at)


class DsrFlowPacket(Message, number=60):
    """A message that follows a flow: those on the way know it."""

    origin: Node
    "Stands in the network header, as its destination, its identification and its hops do."
    destination: Node
    id: Identification
    flow: FlowId
    "0: the newest flow between the two."
    hops: Hops
    "How many it has come when it is heard."
    payload: Message

    @property
    def minimum_size(self) -> int:
        """Nothing but the message, if it follows the newest flow; else four bytes."""
        return self.payload.size + (4 if self.flow else 0)


class DsrFlowError(Message, number=55, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """A packet followed a flow that is not known here."""

    id: Identification
    route: Way
    "That of this message, to the origin of the flow."
    at: Hops
    destination: Node
    "Of the flow."
    flow: FlowId
    "0: the newest."

    @property
    def minimum_size(self) -> int:
        """Four bytes for each node on the route, twelve for the newest flow, sixteen for another."""
        return 4 * len(self.route) + (16 if self.flow else 12)

    def along(self, way: tuple[NodeId, ...]) -> DsrFlowError:
        """The same, on another way."""
        return DsrFlowError(self.id, way, 1, self.destination, self.flow)

    def inconsistency(self) -> str | None:
        """A way does not meet itself."""
        return _walk(self.route, self.at)


Steered = DsrPacket | DsrReply | DsrError | DsrFlowError
"What carries the way that it goes."
