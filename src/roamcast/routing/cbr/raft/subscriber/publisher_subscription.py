"""The state that a RAFT-CBR subscriber keeps for one publisher."""

from __future__ import annotations

from math import inf

from roamcast.content.filter import Filter
from roamcast.routing.router import Timer


class PublisherSubscription:
    """The state of the subscription at one publisher."""

    __slots__ = (
        "acknowledged",
        "advertised",
        "event",
        "event_at",
        "first_sent",
        "heard_at",
        "incarnation",
        "latest_advertised",
        "patterns",
        "sent_at",
        "serial",
        "serial_at",
        "timer",
        "understood",
        "unsure_since",
        "version",
        "waits",
    )

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.serial = 0
        "Serial of the newest advertisement of that incarnation."
        self.serial_at = -inf
        "When that serial was first received [s]."
        self.event = -1
        "Sequence number of the publisher's latest event received here."
        self.event_at = -inf
        "When that event was published, by its age [s]."
        self.waits = False
        "Whether the next subscription waits for a newer advertisement or event."
        self.advertised: dict[Filter, None] = {}
        self.latest_advertised: Filter | None = None
        "The filter of the latest advertisement; the next one most often has the same object."
        self.patterns: tuple[Filter, ...] = ()
        self.version = 0
        "Counted within this incarnation; 0 before the first subscription."
        self.acknowledged = True
        self.heard_at = 0.0
        self.sent_at = -inf
        "When the subscription was last sent [s]."
        self.first_sent: dict[int, float] = {}
        "Version -> when it was first sent [s], of the newest versions."
        self.understood = -inf
        "When the last acknowledged version was sent [s]."
        self.unsure_since = inf
        """Time of the first change that the publisher may not know [s]: since then it may have skipped
        matching events."""
        self.timer: Timer | None = None
