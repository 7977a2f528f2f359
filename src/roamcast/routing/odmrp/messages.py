"""The messages of ODMRP: join requests, join tables, data and announcements of channels."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Float, Hops, Int, ListOf, Milliseconds, Node, Serial

Channel = Annotated[int, Int(4)]
"Number of a multicast group, derived from its subscription; 0 is the group of all subscribers."
MOST_ENTRIES = 128
MOST_FILTERS = 64
LONGEST_LIFETIME = 2**32 - 1
"Lifetime of a route that is not predicted to break [ms]."


SINGLE = Float(4)
"A single-precision number."


class Motion(NamedTuple):
    """Position [m] and velocity [m/s] of the sender, and the predicted lifetime of its route."""

    x: Annotated[float, SINGLE]
    y: Annotated[float, SINGLE]
    vx: Annotated[float, SINGLE]
    vy: Annotated[float, SINGLE]
    lifetime: Milliseconds


Motions = Annotated[tuple[Motion, ...], ListOf(1)]
"The sender's motion with mobility prediction, otherwise empty."
Lifetimes = Annotated[tuple[Milliseconds, ...], ListOf(1)]
"Shortest predicted lifetime among the routes of a join table; empty without mobility prediction."


def _packet(message: Any) -> int:
    """The id by which duplicates are recognised."""
    return message.source << 32 | message.sequence  # type: ignore[no-any-return]


PACKET = property(_packet)


class JoinEntry(NamedTuple):
    """A source, and the sender's next hop to it; the source itself enters its own id as next hop."""

    source: Node
    next_hop: Node


class JoinRequest(Message, number=72, category=Category.ROUTING, role=Role.ROUTING, dedup_field="packet"):
    """A source searches for the members of a channel; each node stores the previous hop as reverse path."""

    source: Node
    sequence: Serial
    hops: Hops
    channel: Channel
    motion: Motions = ()

    packet = PACKET


class JoinData(Message, number=73, category=Category.EVENT, role=Role.EVENT, dedup_field="packet"):
    """A join request that carries an event."""

    source: Node
    sequence: Serial
    hops: Hops
    channel: Channel
    publication: Publication
    motion: Motions = ()

    packet = PACKET


class JoinTable(Message, number=74, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A member's reply to join requests, or a forwarding node's; each entry names a next hop to a source."""

    channel: Channel
    entries: Annotated[tuple[JoinEntry, ...], ListOf(MOST_ENTRIES, least=1)]
    lifetime: Lifetimes = ()


class ChannelData(Message, number=75, category=Category.EVENT, role=Role.EVENT, dedup_field="packet"):
    """An event for the members of a channel."""

    source: Node
    sequence: Serial
    channel: Channel
    publication: Publication

    packet = PACKET


class Announcement(
    Message, number=76, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION, dedup_field="packet"
):
    """The subscriptions of a node; each defines a channel."""

    origin: Node
    serial: Serial
    hops: Hops
    part: Annotated[int, Int(1)]
    "Index of this announcement, if the subscriptions of a node need more than one."
    filters: Annotated[tuple[Filter, ...], ListOf(MOST_FILTERS)]

    @property
    def packet(self) -> int:
        """The id by which duplicates are recognised."""
        return self.origin << 32 | self.serial
