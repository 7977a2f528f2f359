"""What RAFT-CBR says (Table 4 of the paper).

Events and pings go from broker to broker, each of which handles them for the destinations it was given. All
else, and an event or a ping for one destination to which no broker leads, travels by unicast.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, Publication, Role
from roamcast.wire.fields import (
    Incarnation,
    Int,
    ListOf,
    Milliseconds,
    Node,
    Sequence,
    Serial,
)

LOWEST = 0
"A hole that begins here begins with the first event there ever was."
HIGHEST = 2**32 - 1
"A hole that ends here has no end: no event has this number."
HIGHEST_AGE = 2**32 - 1

Place: TypeAlias = Annotated[int, Int(5, least=-256, most=HIGHEST)]
"A sequence number; or, before there is one, a negative number that only one incarnation has (`nothing_yet`)."
Version: TypeAlias = Annotated[int, Int(4, least=1)]
"Of a subscription: the subscriber's incarnation in the upper byte, and a count (`version_of`)."


ORDER_LIMIT = 512
"Events whose order one acknowledgement can tell."
LONGEST_STEP = 2**24 - 1
Step: TypeAlias = Annotated[int, Int(3, least=1)]


def elapsed_since(published: float, now: float) -> int:
    """Milliseconds since a moment, or as many as a message can tell."""
    return min(int(1000 * (now - published)), HIGHEST_AGE)


def first_version(incarnation: int) -> int:
    """The place of a subscriber's incarnation that was addressed nothing."""
    return -1 - incarnation


def version_of(incarnation: int, count: int) -> int:
    """A version that no other incarnation of the subscriber has: it tells for which one an event is."""
    return (incarnation << 24) + count


def incarnation_of(version: int) -> int:
    """The subscriber's incarnation that told a version."""
    return version >> 24


def is_earlier(incarnation: int, other: int) -> bool:
    """Whether one incarnation was before another; they run in a circle."""
    return 0 < (other - incarnation) & 0xFF < 0x80


class Addressee(NamedTuple):
    """A subscriber that an event is for, and the event's place among all that it is sent."""

    node: Node
    before: Place
    "Sequence number of the event that was addressed to it before this one."
    edition: Version
    "The version of its subscription that last put events between those addressed before."
    doubtful: bool = False
    "Whether it may have been published before the subscriber asked, who alone can tell."


class XcastEvent(Message, number=32, category=Category.EVENT, role=Role.CARRIES):
    """An event with the subscribers it is for."""

    publication: Publication
    chain: Annotated[tuple[Node, ...], ListOf(255, least=1)]
    "Who forwarded it, the publisher first."
    destinations: Annotated[tuple[Addressee, ...], ListOf(1024, least=1)]
    age: Milliseconds = 0
    "Since it was published, at least; its travel is not counted."

    def inconsistency(self) -> str | None:
        """A chain begins with the publisher."""
        return None if self.chain[0] == self.publication.publisher else "its chain begins with someone else"


class InterestPeriod(NamedTuple):
    """A time in which a subscriber wanted something, counted back from when it says so."""

    pattern: Filter
    began: Milliseconds
    "Ago."
    ended: Milliseconds
    "Ago; 0 while it is still wanted."

    def inconsistency(self) -> str | None:
        """A period ends after it begins."""
        return None if self.began >= self.ended else "a period that ends before it begins"


class Subscribe(Message, number=33, category=Category.SUBSCRIPTION, role=Role.WISHES):
    """All that a subscriber wants of one publisher now, and what it wanted since it was last understood."""

    subscriber: Node
    incarnation: Incarnation
    "The subscriber's; another one means that it has forgotten everything."
    version: Version
    "The highest version counts, whatever order they arrive in."
    last: Place
    "The event of the publisher that it delivered last; nothing earlier can come in order any more."
    publisher_incarnation: Incarnation
    serial: Serial
    "Of the newest advertisement heard when this was sent, which therefore has not travelled for longer."
    periods: Annotated[tuple[InterestPeriod, ...], ListOf(1024)]
    heard: Place = -1
    "The latest event of the publisher that the subscriber had received when this was sent; -1 if none."
    covered: Milliseconds = 0
    "Ago; since then `periods` are complete."

    def grow_older(self, milliseconds: int) -> Subscribe:
        """Return the subscription with periods, and the time that they cover, so much further back."""
        periods = [
            InterestPeriod(
                pattern,
                min(began + milliseconds, HIGHEST_AGE),
                min(ended + milliseconds, HIGHEST_AGE) if ended else 0,
            )
            for pattern, began, ended in self.periods
        ]
        covered = min(self.covered + milliseconds, HIGHEST_AGE)
        return msgspec.structs.replace(self, periods=tuple(periods), covered=covered)


class SubscribeAck(Message, number=34, category=Category.CONTROL, role=Role.GRANTS):
    """The publisher's word that it knows a version of a subscription."""

    publisher: Node
    incarnation: Incarnation
    "The subscriber's."
    version: Version
    edition: Version
    "The version that last brought back events from before it was known; copies sent earlier are void."
    publisher_incarnation: Incarnation

    def inconsistency(self) -> str | None:
        """An edition is a version."""
        return None if self.edition <= self.version else "an edition that is no version yet"


class EditionAck(Message, number=38, category=Category.CONTROL, role=Role.GRANTS):
    """A `SubscribeAck` for a session whose order has changed: it lists the events owed, in their new order.

    With the list the subscriber places the copies that it holds already; none has to be sent again.
    """

    publisher: Node
    incarnation: Incarnation
    "The subscriber's."
    version: Version
    edition: Version
    publisher_incarnation: Incarnation
    before: Place
    "The event that precedes the first one of the list."
    steps: Annotated[tuple[Step, ...], ListOf(ORDER_LIMIT)]
    "From each sequence number to the next, beginning with `before`. A full list may leave out later events."

    def inconsistency(self) -> str | None:
        """An edition is a version."""
        return None if self.edition <= self.version else "an edition that is no version yet"

    def order(self) -> dict[int, int]:
        """Return the predecessor of each listed event."""
        numbers = list(accumulate(self.steps, initial=self.before))
        return dict(zip(numbers[1:], numbers, strict=False))


class Ping(Message, number=35, category=Category.CONTROL, role=Role.ASKS_AGAIN):
    """A question to subscribers that have been silent: what do you have?"""

    publisher: Node
    chain: Annotated[tuple[Node, ...], ListOf(255, least=1)]
    destinations: Annotated[tuple[Node, ...], ListOf(1024, least=1)]

    def inconsistency(self) -> str | None:
        """A chain begins with the publisher."""
        return None if self.chain[0] == self.publisher else "its chain begins with someone else"


class Ack(Message, number=36, category=Category.CONTROL, role=Role.ACKNOWLEDGES):
    """Subscribers that have everything up to an event."""

    publisher: Node
    sequence: Sequence
    subscribers: Annotated[frozenset[Node], ListOf(1024, least=1)]

    @property
    def publication_id(self) -> int:
        """The last event that arrived."""
        return self.publisher << 32 | self.sequence


class SequenceGap(NamedTuple):
    """A range of sequence numbers that are missing."""

    first: Sequence
    last: Sequence

    def inconsistency(self) -> str | None:
        """A hole ends after it begins."""
        return None if self.first <= self.last else "a hole that ends before it begins"


class Nack(Message, number=37, category=Category.CONTROL, role=Role.ASKS_AGAIN):
    """A subscriber's request for events that it has not received."""

    publisher: Node
    subscriber: Node
    chain: Annotated[tuple[Node, ...], ListOf(255)]
    "Where to ask next, the publisher last."
    last: Place
    "The subscriber has everything up to here, whatever holes others on the way have promised to fill."
    holes: Annotated[tuple[SequenceGap, ...], ListOf(1024)]
    "What is missing."
    edition: Annotated[int, Int(4)]
    "Older copies are of no use to it."

    @property
    def publication_id(self) -> int:
        """The last event known to be missing, or -1 if none is known."""
        for hole in self.holes:
            if hole.last < HIGHEST:
                return self.publisher << 32 | hole.last
        return -1
