"""The state that a publisher keeps for one subscriber."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice, takewhile

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
        self.skipped = self.last
        """The highest sequence number of the dropped events. Copies of it may still be on their way, and
        copies of its successor may name it as their predecessor."""
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

    def revise(
        self,
        removed: Collection[int],
        sequences: Iterable[int],
        doubtful: Collection[int],
        now: float,
        *,
        void: bool = False,
    ) -> list[int]:
        """Remove `removed` from the outstanding events, insert `sequences` in order, and mark `doubtful`.

        Return the inserted ones that can still be delivered in order. Later events get another predecessor,
        and earlier copies of doubtful events are invalid, so the order has a new edition; with `void`, in any
        case.
        """
        settled = next(iter(self.outstanding.values()), self.tail)
        added = sorted(sequence for sequence in sequences if sequence > settled)
        if added or removed or doubtful or void:
            if not self.outstanding:
                self.since = now
            numbers = sorted({*self.outstanding, *added}.difference(removed))
            self.outstanding = dict(zip(numbers, [settled, *numbers], strict=False))
            self.doubtful = self.doubtful.difference(removed).union(doubtful)
            self.tail = numbers[-1] if numbers else settled
            self.last = max(self.last, self.tail)
            self.edition, self.revised = self.version, True
        return added

    def order(self) -> tuple[int, tuple[int, ...]]:
        """Return the predecessor of the first outstanding event, and the steps of `EditionAck` from each
        number to the next."""
        before = next(iter(self.outstanding.values()), self.tail)
        steps = []
        for number, previous in islice(self.outstanding.items(), ORDER_LIMIT):
            step = number - previous if previous >= 0 else wire_number(number) - previous
            steps.append(-step if number in self.doubtful else step)
        fitting = takewhile(lambda step: abs(step) <= LONGEST_STEP, steps)
        return wire_number(before), tuple(fitting)

    def skip(self, sequence: int) -> None:
        """Take `sequence` out of the order: its successor follows its predecessor."""
        self.skipped = max(self.skipped, sequence)
        before = self.outstanding[sequence]
        if self.tail == sequence:
            self.tail = before
        for later in self.outstanding:
            if self.outstanding[later] == sequence:
                self.outstanding[later] = before
