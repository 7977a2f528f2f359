"""What ODMRP says: join requests, join tables, data, and which channels there are."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import Float, Hops, Int, ListOf, Milliseconds, Node, Serial

Channel = Annotated[int, Int(4)]
"A multicast group, by a number that follows from its subscription; 0 is everyone's."
MOST_ENTRIES = 128
MOST_FILTERS = 64
LONGEST_LIFETIME = 2**32 - 1
"Milliseconds: a route that is not known to break."


SINGLE = Float(4)
"A number in single precision."


class Motion(NamedTuple):
    """Position [m] and velocity [m/s] of the sender, and how long the route to it will last."""

    x: Annotated[float, SINGLE]
    y: Annotated[float, SINGLE]
    vx: Annotated[float, SINGLE]
    vy: Annotated[float, SINGLE]
    lifetime: Milliseconds


Motions = Annotated[tuple[Motion, ...], ListOf(1)]
"Empty where nobody predicts."
Lifetimes = Annotated[tuple[Milliseconds, ...], ListOf(1)]
"How long the shortest-lived route of a join table will last; empty where nobody predicts."


class JoinEntry(NamedTuple):
    """A source, and over whom the speaker reaches it; the source itself names itself."""

    source: Node
    next_hop: Node


class JoinRequest(Message, number=72, category=Category.ROUTING, role=Role.FINDS_ROUTE, dedup_field="packet"):
    """A source has something to send on a channel: who is a member, and over which nodes?"""

    source: Node
    sequence: Serial
    hops: Hops
    channel: Channel
    motion: Motions = ()

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class JoinData(Message, number=73, category=Category.EVENT, role=Role.CARRIES, dedup_field="packet"):
    """A join request with the event that was due aboard."""

    source: Node
    sequence: Serial
    hops: Hops
    channel: Channel
    publication: Publication
    motion: Motions = ()

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class JoinTable(Message, number=74, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """The speaker is a member of a channel, or forwards for members, and reaches its sources so."""

    channel: Channel
    entries: Annotated[tuple[JoinEntry, ...], ListOf(MOST_ENTRIES, least=1)]
    lifetime: Lifetimes = ()


class ChannelData(Message, number=75, category=Category.EVENT, role=Role.CARRIES, dedup_field="packet"):
    """An event for the members of a channel."""

    source: Node
    sequence: Serial
    channel: Channel
    publication: Publication

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.source << 32 | self.sequence


class Announcement(
    Message, number=76, category=Category.SUBSCRIPTION, role=Role.WISHES, dedup_field="packet"
):
    """The subscriptions of a node, each of which is a channel."""

    origin: Node
    serial: Serial
    hops: Hops
    part: Annotated[int, Int(1)]
    "A node with more subscriptions than one announcement holds makes several."
    filters: Annotated[tuple[Filter, ...], ListOf(MOST_FILTERS)]

    @property
    def packet(self) -> int:
        """By which it is known as a duplicate."""
        return self.origin << 32 | self.serial
