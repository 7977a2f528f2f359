"""What AODV says: requests, replies and errors, as long as RFC 3561 (or ns-2) has them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.routing.router import Category, Message, Role
from roamcast.wire.fields import Hops, Int, ListOf, Milliseconds, Node, Serial

UNKNOWN = 1
"Flag of a request (U): no sequence number of the destination is known."
DESTINATION_ONLY = 2
"Flag of a request (D): only the destination may reply."
GRATUITOUS = 4
"Flag of a request (G): who replies from its table also tells the destination."
STAMPED = 8
"Flag: four bytes longer, as ns-2's, which carry the time of the request; whoever asked knows it anyway."
NO_DELETE = 1
"Flag of an error (N): the break was repaired, do not give up the routes."

Flags = Annotated[int, Int(1, most=15)]


class RouteRequest(Message, number=50, category=Category.ROUTING, role=Role.FINDS_ROUTE, dedup_field="flood"):
    """Who knows a way to a node?"""

    flags: Flags
    hops: Hops
    "Travelled so far."
    ttl: Hops
    "How many more it may travel; stands in the network header."
    id: Serial
    destination: Node
    destination_sequence: Serial
    origin: Node
    origin_sequence: Serial

    @property
    def minimum_size(self) -> int:
        """RFC 3561 has 24 bytes, ns-2 28."""
        return 28 if self.flags & STAMPED else 24

    @property
    def flood(self) -> int:
        """By what copies of it are known."""
        return self.origin << 32 | self.id


class RouteReply(Message, number=51, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """A way to a node, told back to who asked for it; broadcast and of oneself, it is a hello."""

    flags: Flags
    hops: Hops
    destination: Node
    destination_sequence: Serial
    origin: Node
    "Who asked."
    lifetime: Milliseconds

    @property
    def minimum_size(self) -> int:
        """RFC 3561 has 20 bytes, ns-2 24."""
        return 24 if self.flags & STAMPED else 20


class Unreachable(NamedTuple):
    """A destination that is reached no more, with a sequence number newer than that of the lost route."""

    destination: Node
    sequence: Serial


class RouteError(Message, number=52, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """Ways that lead no further from here."""

    flags: Annotated[int, Int(1, most=1)]
    unreachable: Annotated[tuple[Unreachable, ...], ListOf(255, least=1)]

    @property
    def minimum_size(self) -> int:
        """Four bytes, and eight for each destination."""
        return 4 + 8 * len(self.unreachable)
