"""The messages of AODV: requests, replies and errors, with the sizes of RFC 3561 or ns-2."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.routing.router import Category, Message, Role
from roamcast.wire.fields import Hops, Int, ListOf, Milliseconds, Node, Serial

UNKNOWN = 1
"Flag of a request (U): the sequence number of the destination is unknown."
DESTINATION_ONLY = 2
"Flag of a request (D): only the destination may reply."
GRATUITOUS = 4
"Flag of a request (G): an intermediate node that replies also sends a reply to the destination."
STAMPED = 8
"Flag: ns-2's form, four bytes longer for the time of the request; that time is not transmitted here."
NO_DELETE = 1
"Flag of an error (N): the break was repaired, keep the routes."

Flags = Annotated[int, Int(1, most=15)]


class RouteRequest(Message, number=50, category=Category.ROUTING, role=Role.ROUTING, dedup_field="flood"):
    """A node searches for a route to a destination."""

    flags: Flags
    hops: Hops
    "Hops travelled."
    ttl: Hops
    "Remaining hops; part of the network header."
    id: Serial
    destination: Node
    destination_sequence: Serial
    origin: Node
    origin_sequence: Serial

    @property
    def minimum_size(self) -> int:
        """RFC 3561 specifies 24 B, ns-2 28 B."""
        return 28 if self.flags & STAMPED else 24

    @property
    def flood(self) -> int:
        """The id by which duplicates are recognised."""
        return self.origin << 32 | self.id


class RouteReply(Message, number=51, category=Category.ROUTING, role=Role.ROUTING):
    """A route to a destination, sent to the origin of the request; as a broadcast, a hello."""

    flags: Flags
    hops: Hops
    destination: Node
    destination_sequence: Serial
    origin: Node
    "Origin of the request."
    lifetime: Milliseconds

    @property
    def minimum_size(self) -> int:
        """RFC 3561 specifies 20 B, ns-2 24 B."""
        return 24 if self.flags & STAMPED else 20


class Unreachable(NamedTuple):
    """An unreachable destination, with a sequence number newer than that of the lost route."""

    destination: Node
    sequence: Serial


class RouteError(Message, number=52, category=Category.ROUTING, role=Role.ROUTING):
    """Destinations that the sender can no longer reach."""

    flags: Annotated[int, Int(1, most=1)]
    unreachable: Annotated[tuple[Unreachable, ...], ListOf(255, least=1)]

    @property
    def minimum_size(self) -> int:
        """4 B, and 8 B for each destination."""
        return 4 + 8 * len(self.unreachable)
