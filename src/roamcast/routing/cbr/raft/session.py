"""The state that a publisher keeps for one subscriber."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import takewhile

from roamcast.content.filter import Filter
from roamcast.routing.cbr.raft.messages import (
    LONGEST_STEP,
    ORDER_LIMIT,
    Addressee,
    first_version,
    wire_number,
)
from roamcast.routing.router import NodeId


class SubscriberSession:
    """One subscriber in one incarnation: its filters, and its addressed and unacknowledged events.

    Sequence numbers are extended (`extend`).
    """

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
        """The version that opened the session, or the last one since then that changed the order of
        outstanding events."""
        self.revised = False
        "Whether a version has changed the order."
        self.patterns: tuple[Filter, ...] = ()
        self.last = first_version(incarnation)
        "Sequence number of the last addressed event; initially a number unique to this incarnation."
        self.tail = self.last
        "Sequence number of the last addressed event that was not dropped: the predecessor of the next one."
        self.outstanding: dict[int, int] = {}
        "Unacknowledged events in order, each with its predecessor."
        self.skipped = False
        "Whether events were dropped: copies sent earlier may name one of them as their predecessor."
        self.doubtful: set[int] = set()
        "The outstanding events that may have been published before the subscription."
        self.since = now
        "When the subscriber was last received from, or began to owe an acknowledgement [s]."
        self.pinged = False

    def address(self, sequence: int, now: float) -> None:
        """Append an event to the outstanding ones."""
        if not self.outstanding:
            self.since = now
        self.outstanding[sequence] = self.tail
        self.last = self.tail = sequence

    def addressee(self, node: NodeId, sequence: int) -> Addressee:
        """Return the address entry of an outstanding event, with its predecessor and edition."""
        before = wire_number(self.outstanding[sequence])
        return Addressee(node, before, self.edition, sequence in self.doubtful)

    def acknowledge(self, sequence: int) -> None:
        """Remove an acknowledged event."""
        del self.outstanding[sequence]
        self.doubtful.discard(sequence)

    def revise(self, removed: Collection[int], sequences: Iterable[int], now: float) -> list[int]:
        """Remove `removed` from the outstanding events, and insert `sequences` in order.

        Return the inserted ones that can still be delivered in order. Later events get another predecessor,
        so the order has a new edition.
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
        """Return the predecessor of the first outstanding event, and the difference from each number to the
        next."""
        before = next(iter(self.outstanding.values()), self.tail)
        steps = [
            number - previous if previous >= 0 else wire_number(number) - previous
            for number, previous in self.outstanding.items()
        ][:ORDER_LIMIT]
        fitting = takewhile(lambda step: step <= LONGEST_STEP, steps)
        return wire_number(before), tuple(fitting)

    def skip(self, sequence: int) -> None:
        """Make the predecessor of `sequence` that of its successor."""
        self.skipped = True
        before = self.outstanding[sequence]
        if self.tail == sequence:
            self.tail = before
        for later in self.outstanding:
            if self.outstanding[later] == sequence:
                self.outstanding[later] = before
