"""What a publisher knows of one subscriber."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import takewhile

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.cbr.raft.messages import LONGEST_STEP, ORDER_LIMIT, Addressee, first_version
from roamcast.routing.router import NodeId


class SubscriberSession:
    """One subscriber in one of its incarnations: what it wants, was sent, and has not acknowledged."""

    __slots__ = (
        "doubtful",
        "edition",
        "incarnation",
        "last",
        "outstanding",
        "patterns",
        "pinged",
        "revised",
        "since",
        "skipped",
        "tail",
        "version",
    )

    def __init__(self, incarnation: int, now: float) -> None:
        self.incarnation = incarnation
        self.version = 0
        self.edition = 0
        "The version that began the session, or the last since then that changed the order of what is owed."
        self.revised = False
        "Whether a version has changed the order."
        self.patterns: tuple[Filter, ...] = ()
        self.last = first_version(incarnation)
        "Sequence number of the event addressed to it last; at first a number that only this incarnation has."
        self.tail = self.last
        "That of the last one that has not been given up: the next to be addressed follows it."
        self.outstanding: dict[int, int] = {}
        "Events addressed and not acknowledged, in order, each with the one that was addressed before it."
        self.skipped = False
        "Whether events were given up: copies sent before may name one of them as their predecessor."
        self.doubtful: set[int] = set()
        "Those of them that may have been published before it asked."
        self.since = now
        "When it was heard of, or when it began to owe an acknowledgement."
        self.pinged = False

    def matches(self, event: Event) -> bool:
        """Whether it is to get `event`."""
        for pattern in self.patterns:  # noqa: SIM110 -- a generator would cost more than most filters
            if pattern.matches(event):
                return True
        return False

    def address(self, sequence: int, now: float) -> None:
        """Add an event to what it is to get."""
        if not self.outstanding:
            self.since = now
        self.outstanding[sequence] = self.tail
        self.last = self.tail = sequence

    def addressee(self, node: NodeId, sequence: int) -> Addressee:
        """The place of an event among all that it is sent."""
        return Addressee(node, self.outstanding[sequence], self.edition, sequence in self.doubtful)

    def acknowledge(self, sequence: int) -> None:
        """Take an event off what it is to get."""
        del self.outstanding[sequence]
        self.doubtful.discard(sequence)

    def revise(self, removed: Collection[int], sequences: Iterable[int], now: float) -> list[int]:
        """Take `removed` off what it is to get, and insert `sequences` in their places.

        Returns the inserted ones that can still come in order. Events that follow have another predecessor
        now: the order has a new edition.
        """
        settled = next(iter(self.outstanding.values()), self.tail)
        added = sorted(sequence for sequence in sequences if sequence > settled)
        if added or removed:
            if not self.outstanding:
                self.since = now
            numbers = sorted({*self.outstanding, *added}.difference(removed))
            self.outstanding = dict(zip(numbers, [settled, *numbers], strict=False))
            self.doubtful.difference_update(removed)
            self.tail = numbers[-1] if numbers else settled
            self.last = max(self.last, self.tail)
            self.edition, self.revised = self.version, True
        return added

    def order(self) -> tuple[int, tuple[int, ...]]:
        """Return the predecessor of the first event owed, and the steps from each number to the next."""
        before = next(iter(self.outstanding.values()), self.tail)
        steps = [number - previous for number, previous in self.outstanding.items()][:ORDER_LIMIT]
        fitting = takewhile(lambda step: step <= LONGEST_STEP, steps)
        return before, tuple(fitting)

    def skip(self, sequence: int) -> None:
        """Join the event after `sequence` to the one before it."""
        self.skipped = True
        before = self.outstanding[sequence]
        if self.tail == sequence:
            self.tail = before
        for later in self.outstanding:
            if self.outstanding[later] == sequence:
                self.outstanding[later] = before
