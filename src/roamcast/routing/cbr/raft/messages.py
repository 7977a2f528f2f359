"""What RAFT-CBR says (Table 4 of the paper), with honest sizes.

`to` is the node that a message is for: nodes on the way pass it on and do nothing else. Events and pings
without it (`BROADCAST`) are handled by every node that they pass, each for the destinations it was given.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import msgspec

from roamcast.content.filter import Filter
from roamcast.routing.cbr.messages import pattern_size
from roamcast.routing.router import BROADCAST, Category, Message, NodeId, Publication

LOWEST = -(2**63)
"A hole that begins here begins with the first event there ever was."
HIGHEST = 2**63 - 1
"A hole that ends here has no end."


class Addressee(NamedTuple):
    """A subscriber that an event is for, and the event's place among all that it is sent."""

    node: NodeId
    before: int
    "Sequence number of the event that was addressed to it before this one."
    edition: int
    "The version of its subscription that last put events between those addressed before."
    doubtful: bool = False
    "Whether it may have been published before the subscriber asked, who alone can tell."


class XcastEvent(Message, frozen=True, gc=False):
    """An event with the subscribers it is for."""

    category: ClassVar[Category] = Category.EVENT

    id: int
    publication: Publication
    chain: tuple[NodeId, ...]
    "Who forwarded it, the publisher first."
    destinations: tuple[Addressee, ...]
    age: int = 0
    "Milliseconds since it was published, at least; its travel is not counted."
    to: NodeId = BROADCAST
    hops: int = 0

    @property
    def size(self) -> int:
        """The publication's, whose padding leaves room for a few addresses; more if they are many."""
        return max(self.publication.size, 24 + 4 * len(self.chain) + 10 * len(self.destinations))

    @property
    def about(self) -> int:
        """The publication it carries."""
        return self.id


class Period(NamedTuple):
    """A time in which a subscriber wanted something, counted back from when it says so."""

    pattern: Filter
    began: int
    "Milliseconds ago."
    ended: int
    "Milliseconds ago; 0 while it is still wanted."


class Subscribe(Message, frozen=True, gc=False):
    """All that a subscriber wants of one publisher now, and what it wanted since it was last understood."""

    category: ClassVar[Category] = Category.SUBSCRIPTION

    to: NodeId
    "The publisher."
    subscriber: NodeId
    incarnation: int
    "A number that the subscriber drew when it started; another one means that it has forgotten everything."
    version: int
    "The highest version counts, whatever order they arrive in."
    last: int
    "The event of the publisher that it delivered last; nothing earlier can come in order any more."
    publisher_incarnation: int
    serial: int
    "Of the newest advertisement heard when this was sent, which therefore has not travelled for longer."
    periods: tuple[Period, ...]
    hops: int = 0

    @property
    def size(self) -> int:
        """Addresses, incarnations, version, the last event, the serial and the periods."""
        return 30 + sum(8 + pattern_size(period.pattern) for period in self.periods)


class SubscribeAck(Message, frozen=True, gc=False):
    """The publisher's word that it knows a version of a subscription."""

    category: ClassVar[Category] = Category.CONTROL

    to: NodeId
    "The subscriber."
    publisher: NodeId
    incarnation: int
    "The subscriber's."
    version: int
    edition: int
    "The version that last brought back events from before it was known; copies sent earlier are void."
    publisher_incarnation: int
    hops: int = 0

    @property
    def size(self) -> int:
        """Addresses, incarnations, version and edition."""
        return 24


class Ping(Message, frozen=True, gc=False):
    """A question to subscribers that have been silent: what do you have?"""

    category: ClassVar[Category] = Category.CONTROL

    publisher: NodeId
    chain: tuple[NodeId, ...]
    destinations: tuple[NodeId, ...]
    to: NodeId = BROADCAST
    hops: int = 0

    @property
    def size(self) -> int:
        """Addresses."""
        return 10 + 4 * (len(self.chain) + len(self.destinations))


class Ack(Message, frozen=True, gc=False):
    """Subscribers that have everything up to an event."""

    category: ClassVar[Category] = Category.CONTROL

    to: NodeId
    "The next node of the chain, upwards."
    publisher: NodeId
    sequence: int
    subscribers: frozenset[NodeId]
    hops: int = 0

    @property
    def size(self) -> int:
        """Addresses and the sequence number."""
        return 14 + 4 * len(self.subscribers)

    @property
    def about(self) -> int:
        """The last event that arrived."""
        return self.publisher << 32 | self.sequence


class Nack(Message, frozen=True, gc=False):
    """A subscriber's request for events that it has not received."""

    category: ClassVar[Category] = Category.CONTROL

    to: NodeId
    "The next node of the chain, upwards."
    publisher: NodeId
    subscriber: NodeId
    chain: tuple[NodeId, ...]
    "Where to ask after `to`, the publisher last."
    last: int
    "The subscriber has everything up to here, whatever holes others on the way have promised to fill."
    holes: tuple[tuple[int, int], ...]
    "First and last sequence number of each range that is missing."
    edition: int
    "Older copies are of no use to it."
    hops: int = 0

    @property
    def size(self) -> int:
        """Addresses, the last event, the edition and the ranges."""
        return 20 + 4 * len(self.chain) + 8 * len(self.holes)

    @property
    def about(self) -> int:
        """The last event known to be missing, or -1 if none is known."""
        for _, last in self.holes:
            if 0 <= last < HIGHEST:
                return self.publisher << 32 | last
        return -1


def grow_older(message: Message, seconds: float) -> Message:
    """A message after so long a wait: an event tells its age."""
    if isinstance(message, XcastEvent):
        return msgspec.structs.replace(message, age=message.age + int(1000 * seconds))
    return message
