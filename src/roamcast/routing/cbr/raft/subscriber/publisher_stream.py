"""The state of one publisher's event stream at a RAFT-CBR subscriber."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from roamcast.routing.cbr.raft.messages import (
    CIRCLE,
    HIGHEST,
    LOWEST,
    SequenceGap,
    extend,
    first_version,
    wire_number,
)
from roamcast.routing.router import NodeId, Publication


class BufferedEvent(NamedTuple):
    """An event that cannot be delivered yet."""

    sequence: int
    "Its extended sequence number."
    before: int
    "Extended sequence number of the preceding event."
    published: float
    "Latest possible time of publication [s]."
    subscribed: bool
    "Whether to deliver it to the application; false if it was published before the subscription."
    publication: Publication


class PublisherStream:
    """The state of the event stream of one publisher; sequence numbers are extended (`extend`)."""

    __slots__ = (
        *(
            "asking",
            "chain",
            "early",
            "edition",
            "last",
            "near",
            "order",
            "reminded",
            "requested",
            "requested_at",
        ),
        *("delayed", "timeout", "unplaced"),
    )

    def __init__(self, incarnation: int, timeout: float) -> None:
        self.last = first_version(incarnation)
        "Sequence number of the last delivered event."
        self.near: int | None = None
        "An extended number of this stream, the last delivered one if there is one."
        self.early: dict[int, BufferedEvent] = {}
        "Events that wait for their predecessors, by sequence number."
        self.edition = 0
        "The current edition of the order; copies of an older edition have a wrong predecessor."
        self.order: dict[int, int] = {}
        "Sequence number -> predecessor, as listed by the publisher for this edition; no doubtful events."
        self.unplaced: dict[int, BufferedEvent] = {}
        "Copies of an older edition that wait for the list, or for a copy of this edition."
        self.chain: tuple[NodeId, ...] = ()
        "The path of the latest event, the nearest node first."
        self.asking = False
        self.requested = LOWEST
        "The highest sequence number requested."
        self.timeout = timeout
        "Time to wait for an answer before all gaps are requested again [s]; doubled each time."
        self.reminded = False
        "Whether a repeated request is scheduled."
        self.delayed = False
        "Whether an acknowledgement is delayed until further events of its run arrive."
        self.requested_at = -inf
        "When all gaps were last requested [s]."

    def extend(self, sequence: int) -> int:
        """Return the extended number of a sequence number of this stream."""
        if self.near is None and sequence >= 0:
            self.near = sequence + CIRCLE
        return extend(sequence, self.near or 0)

    def gaps(self) -> list[SequenceGap]:
        """Return the missing ranges before the buffered events, in extended numbers."""
        holes = []
        first = self.last + 1 if self.last >= 0 else LOWEST
        for sequence in sorted(self.early):
            before = self.early[sequence].before
            if before >= first:
                holes.append(SequenceGap(first, before))
            first = sequence + 1
        return holes


def wire_gaps(gaps: list[SequenceGap]) -> list[SequenceGap]:
    """Return gaps in extended numbers as messages have them; a gap over the end of the circle is divided."""
    found = []
    for first, last in gaps:
        low, high = wire_number(first), wire_number(last)
        if low <= high:
            found.append(SequenceGap(low, high))
            continue
        if low < HIGHEST:  # which would mean that the gap is open-ended
            found.append(SequenceGap(low, HIGHEST - 1))
        found.append(SequenceGap(LOWEST, high))
    return found
