"""Messages of RAFT-CBR (Table 4 of the paper).

Events and pings travel from broker to broker; each broker handles them for the destinations that it was
given. All other messages, and events or pings for a single destination without a broker on the path, travel
by unicast.
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
"A gap that begins here includes the first event of the publisher."
HIGHEST = 2**32 - 1
"A gap that ends here is open-ended; no event has this number."
HIGHEST_AGE = 2**32 - 1
CIRCLE = 2**32
"Sequence numbers are counted modulo this number."

Place: TypeAlias = Annotated[int, Int(5, least=-256, most=HIGHEST)]
"A sequence number; before the first event, a negative number unique to the incarnation (`first_version`)."
Version: TypeAlias = Annotated[int, Int(4, least=1)]
"The version of a subscription: the subscriber's incarnation in the upper byte, and a count (`version_of`)."


LIST_LIMIT = 1024
"Maximum number of destinations, periods, subscribers or gaps in one message."
ORDER_LIMIT = 512
"Maximum number of events whose order one acknowledgement can list."
LONGEST_STEP = 2**23 - 1
Step: TypeAlias = Annotated[int, Int(3, least=-LONGEST_STEP, most=LONGEST_STEP)]


def extend(number: int, near: int) -> int:
    """Return the extended number of a sequence number: the one nearest to the extended number `near`.

    Sequence numbers are counted in a circle of 2^32. Publishers and subscribers compare extended numbers,
    which do not wrap; messages have the low 32 bits (`wire_number`). A negative number (`first_version`) is
    its own extended number.
    """
    return number if number < 0 else near + (number - near + CIRCLE // 2) % CIRCLE - CIRCLE // 2


def wire_number(extended: int) -> int:
    """Return an extended number as messages have it."""
    return extended % CIRCLE if extended >= 0 else extended


def elapsed_since(published: float, now: float) -> int:
    """Return the time since `published` [ms], limited to the greatest value that a message can hold."""
    return min(int(1000 * (now - published)), HIGHEST_AGE)


def first_version(incarnation: int) -> int:
    """Return the predecessor of the first event that is addressed to a subscriber's incarnation."""
    return -1 - incarnation


def version_of(incarnation: int, count: int) -> int:
    """Return a version unique to the incarnation, so that an event shows for which incarnation it is."""
    return (incarnation << 24) + count


def incarnation_of(version: int) -> int:
    """Return the subscriber's incarnation that sent a version."""
    return version >> 24


def is_earlier(incarnation: int, other: int) -> bool:
    """Return whether an incarnation precedes `other`, in circular order."""
    return 0 < (other - incarnation) & 0xFF < 0x80


class Addressee(NamedTuple):
    """A subscriber to which an event is addressed, and the event's position in its stream."""

    node: Node
    before: Place
    "Sequence number of the event addressed to the subscriber before this one."
    edition: Version
    "The version of its subscription that last changed the order of the events addressed to it."
    doubtful: bool = False
    "Whether the event may precede the subscription; only the subscriber can decide."


class XcastEvent(Message, number=32, category=Category.EVENT, role=Role.EVENT):
    """An event with the subscribers that it is addressed to."""

    publication: Publication
    chain: Annotated[tuple[Node, ...], ListOf(255, least=1)]
    "The nodes that forwarded it, the publisher first."
    destinations: Annotated[tuple[Addressee, ...], ListOf(LIST_LIMIT, least=1)]
    age: Milliseconds = 0
    "Minimum time since publication [ms]; the transmission time is not included."

    def inconsistency(self) -> str | None:
        """Return an error if the chain does not begin with the publisher."""
        return (
            None
            if self.chain[0] == self.publication.publisher
            else "its chain does not begin with the publisher"
        )


class InterestPeriod(NamedTuple):
    """A period in which a subscriber had an interest, relative to the time of sending."""

    pattern: Filter
    began: Milliseconds
    "How long ago the period began [ms]."
    ended: Milliseconds
    "How long ago the period ended [ms]; 0 if it has not ended."

    def inconsistency(self) -> str | None:
        """Return an error if the period ends before it begins."""
        return None if self.began >= self.ended else "a period ends before it begins"


class Subscribe(Message, number=33, category=Category.SUBSCRIPTION, role=Role.SUBSCRIPTION):
    """A subscriber's interests at one publisher, now and since its last acknowledged subscription."""

    subscriber: Node
    incarnation: Incarnation
    "The subscriber's incarnation; a change means that it has lost its memory."
    version: Version
    "The highest version is valid, regardless of the order of arrival."
    last: Place
    """The last event of the publisher that the subscriber delivered; earlier ones can no longer be delivered
    in order."""
    publisher_incarnation: Incarnation
    serial: Serial
    "Serial of the newest advertisement received when this was sent; it bounds the travel time."
    periods: Annotated[tuple[InterestPeriod, ...], ListOf(LIST_LIMIT)]
    heard: Place = -1
    "The latest event of the publisher that the subscriber had received when this was sent; -1 if none."
    covered: Milliseconds = 0
    "Time since which `periods` are complete, before sending [ms]."

    def grow_older(self, milliseconds: int) -> Subscribe:
        """Return the subscription with all relative times increased by `milliseconds`."""
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


class SubscribeAck(Message, number=34, category=Category.CONTROL, role=Role.SUBSCRIPTION_ACK):
    """The publisher's acknowledgement of a version of a subscription."""

    publisher: Node
    incarnation: Incarnation
    "The subscriber's incarnation."
    version: Version
    edition: Version
    "The version that last changed the order; copies sent before it name a wrong predecessor."
    publisher_incarnation: Incarnation

    def inconsistency(self) -> str | None:
        """Return an error if the edition is greater than the version."""
        return None if self.edition <= self.version else "its edition is greater than its version"


class EditionAck(Message, number=38, category=Category.CONTROL, role=Role.SUBSCRIPTION_ACK):
    """A `SubscribeAck` for a session whose order has changed; it lists the outstanding events in order.

    With the list the subscriber can order the copies that it already holds; none has to be sent again.
    """

    publisher: Node
    incarnation: Incarnation
    "The subscriber's incarnation."
    version: Version
    edition: Version
    publisher_incarnation: Incarnation
    before: Place
    "The event that precedes the first one of the list."
    steps: Annotated[tuple[Step, ...], ListOf(ORDER_LIMIT)]
    """Difference from each sequence number to the next, beginning with `before`; negative if the event is
    doubtful (`Addressee.doubtful`). A full list may omit later events."""

    def inconsistency(self) -> str | None:
        """Return an error if the edition is greater than the version, or a number is listed twice."""
        if self.edition > self.version:
            return "its edition is greater than its version"
        return "it lists a number twice" if 0 in self.steps else None

    def order(self) -> dict[int, int]:
        """Return the predecessor of each listed event."""
        numbers = self._numbers()
        return dict(zip(numbers[1:], numbers, strict=False))

    def doubtful(self) -> set[int]:
        """Return the listed events that may precede the subscription; earlier copies of them are invalid."""
        return {number for number, step in zip(self._numbers()[1:], self.steps, strict=True) if step < 0}

    def _numbers(self) -> list[int]:
        return [wire_number(each) for each in accumulate(map(abs, self.steps), initial=self.before)]


class Ping(Message, number=35, category=Category.CONTROL, role=Role.REPAIR_REQUEST):
    """A publisher's request to silent subscribers to acknowledge what they have received."""

    publisher: Node
    chain: Annotated[tuple[Node, ...], ListOf(255, least=1)]
    destinations: Annotated[tuple[Node, ...], ListOf(LIST_LIMIT, least=1)]

    def inconsistency(self) -> str | None:
        """Return an error if the chain does not begin with the publisher."""
        return None if self.chain[0] == self.publisher else "its chain does not begin with the publisher"


class Ack(Message, number=36, category=Category.CONTROL, role=Role.EVENT_ACK):
    """Acknowledgement by subscribers that have received everything up to an event."""

    publisher: Node
    sequence: Sequence
    subscribers: Annotated[frozenset[Node], ListOf(LIST_LIMIT, least=1)]

    @property
    def publication_id(self) -> int:
        """The id of the last acknowledged event."""
        return self.publisher << 32 | self.sequence


class SequenceGap(NamedTuple):
    """A range of missing sequence numbers."""

    first: Sequence
    last: Sequence

    def inconsistency(self) -> str | None:
        """Return an error if the gap ends before it begins."""
        return None if self.first <= self.last else "a gap ends before it begins"


class Nack(Message, number=37, category=Category.CONTROL, role=Role.REPAIR_REQUEST):
    """A subscriber's request for events that it has not received."""

    publisher: Node
    subscriber: Node
    chain: Annotated[tuple[Node, ...], ListOf(255)]
    "The nodes to ask next, the publisher last."
    last: Place
    "The subscriber has everything up to this event, regardless of gaps that brokers on the path fill."
    holes: Annotated[tuple[SequenceGap, ...], ListOf(LIST_LIMIT)]
    "The missing ranges."
    edition: Annotated[int, Int(4)]
    "Copies of an older edition are invalid for the subscriber."

    @property
    def publication_id(self) -> int:
        """The id of the last event of the first closed gap, or -1 if all gaps are open-ended."""
        for hole in self.holes:
            if hole.last < HIGHEST:
                return self.publisher << 32 | hole.last
        return -1
