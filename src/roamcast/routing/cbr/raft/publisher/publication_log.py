"""Recent publications and advertisements of a RAFT-CBR publisher, to judge late subscriptions."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import inf
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.cbr.raft.messages import CIRCLE, Subscribe, extend
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.publisher.session import SubscriberSession
from roamcast.routing.router import Host, Publication

SERIALS_KEPT = 256
"Number of renewals whose time is stored."


class Span(NamedTuple):
    """A period of a subscriber's interest, in the publisher's time [s]."""

    pattern: Filter
    begin: float
    "Latest possible beginning [s]: the travel time of the subscription makes it appear later than it was."
    end: float
    travel: float
    "Upper bound of the subscription's travel time [s]."

    def holds(self, time: float, publication: Publication) -> bool:
        """Return whether an event published at `time` matched, or may have matched, the interest."""
        return self.begin - self.travel <= time <= self.end and self.pattern.matches(publication.event)


class PublicationLog:
    """The events published up to `recall` ago, and the times of the latest advertisements."""

    def __init__(self, host: Host, parameters: RaftCbrParameters, incarnation: int) -> None:
        self.host = host
        self.recent: deque[tuple[float, Publication]] = deque(maxlen=parameters.unacknowledged_events)
        "Time [s] and publication of the latest events, the oldest first."
        self._recall = parameters.recall
        self._incarnation = incarnation
        self._newest: int | None = None
        "Extended sequence number of the latest event."
        self._advertised: dict[int, float] = {}
        "Serial -> time of its first advertisement [s]."

    def add(self, publication: Publication) -> int:
        """Add a publication of this moment; return its extended sequence number."""
        now, recent = self.host.now(), self.recent
        self._newest = self.extend(publication.sequence)
        recent.append((now, publication))
        while recent[0][0] < now - self._recall:
            recent.popleft()
        return self._newest

    def extend(self, sequence: int) -> int:
        """Return the extended number of a sequence number of this publisher."""
        return extend(sequence, sequence + CIRCLE if self._newest is None else self._newest)

    def advance_serial(self, serial: int) -> None:
        """Record the time at which advertisements with a new serial begin."""
        self._advertised.setdefault(serial, self.host.now())
        if len(self._advertised) > SERIALS_KEPT:
            del self._advertised[next(iter(self._advertised))]

    def spans(self, message: Subscribe) -> list[Span]:
        """Return the periods of interest of a subscription that has just arrived."""
        now, travel = self.host.now(), self._travel_time(message)
        return [
            Span(each.pattern, now - each.began / 1000, now - each.ended / 1000, travel)
            for each in message.periods
        ]

    def missed(
        self, last: int, session: SubscriberSession, spans: list[Span]
    ) -> dict[int, tuple[float, Publication, bool]]:
        """Return the events published in `spans` after event `last` that are not outstanding, and whether
        each is doubtful."""
        found = {}
        oldest = self.host.now() - self._recall
        for time, publication in reversed(self.recent):
            sequence = self.extend(publication.sequence)
            if sequence <= last or time < oldest:
                break
            begins = [span.begin for span in spans if span.holds(time, publication)]
            if begins and sequence not in session.outstanding:
                found[sequence] = (time, publication, time < min(begins))
        return found

    def _travel_time(self, message: Subscribe) -> float:
        """Return an upper bound of the travel time [s] of a subscription, from the newest serial and event
        that it reports."""
        since = -inf
        if message.publisher_incarnation == self._incarnation:
            since = self._advertised.get(message.serial, -inf)
        heard = self.extend(message.heard)
        for time, publication in reversed(self.recent):
            if self.extend(publication.sequence) <= heard:
                if publication.sequence == message.heard:
                    since = max(since, time)
                break
        return self.host.now() - since


def judge(
    session: SubscriberSession,
    events: Mapping[int, tuple[float, Publication]],
    spans: list[Span],
    since: float,
) -> tuple[list[int], list[int]]:
    """Return the outstanding events that were published after `since` and lie in none of `spans`, and those
    that have become doubtful.

    If the subscriber has subscribed again meanwhile, its next version restores them. Events that match a
    filter of the session which `spans` does not mention are kept, because the subscriber may have dropped its
    record of that period.
    """
    mentioned = {span.pattern for span in spans}
    unwanted, doubted = [], []
    for sequence in session.outstanding:
        time, publication = events[sequence]
        if time < since:
            continue
        begins = [span.begin for span in spans if span.holds(time, publication)]
        if begins:
            if time < min(begins) and sequence not in session.doubtful:
                doubted.append(sequence)
        elif all(each in mentioned for each in session.patterns if each.matches(publication.event)):
            unwanted.append(sequence)
    return unwanted, doubted
