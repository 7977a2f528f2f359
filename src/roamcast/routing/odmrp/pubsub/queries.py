"""The queries in a publisher's join requests, and the time from which subscribers count as known."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from roamcast.content.codec import encode_event
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest
from roamcast.routing.odmrp.pubsub.messages import MOST_QUERIES
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters

REMEMBERED = 1024


class QueryTimes(NamedTuple):
    """Times of the first and the last of a series of equal queries [s]."""

    first: float
    last: float


NEVER = QueryTimes(-inf, -inf)


class PublisherQueries:
    """The queries of one publisher."""

    def __init__(self, parameters: PubSubParameters) -> None:
        self._parameters = parameters
        self.advertised: list[Filter] = []
        self._advertised = NEVER
        "Times of the queries for the advertisement."
        self._about: dict[Event, QueryTimes] = {}
        "Times of the queries for each event, most recent last."

    def advertise(self, filter: Filter) -> None:
        """Add an advertisement, for which no query has been sent yet."""
        self.advertised.append(filter)
        self._advertised = NEVER

    def known_at(self, event: Event, now: float) -> float:
        """Return the time from which all subscribers of an event have had time to reply [s].

        The time is infinite if no query of the last half `timeout` covers the event, since members may have
        expired.
        """
        p = self._parameters
        since, known_at = now - p.timeout / 2, inf
        times = self._about.get(event, NEVER)
        if times.last > since:
            known_at = times.first
        times = self._advertised
        if times.last > since and times.first < known_at and self._is_advertised(event):
            known_at = times.first
        return known_at + (p.settling_time if p.piggyback else p.round_trip)

    def due_queries(
        self, event: Event | None, carried: bool, now: float
    ) -> tuple[Event | EventDigest | Filter, ...]:
        """Return the queries of a join request that carries (`carried`) or concerns an event."""
        found: list[Event | EventDigest | Filter] = []
        if self._parameters.query_content == "advertisement" and self.advertised:
            found += self.advertised[:MOST_QUERIES]
            self._advertised = self._renewed(self._advertised, now)
        if event is not None:
            if not carried and not (found and self._is_advertised(event)):
                found.append(self._smaller(event))
            if self._parameters.query_content == "batch":
                latest = [each for each in reversed(self._about) if each != event]
                found += [self._smaller(each) for each in latest[: self._parameters.batch - 1]]
                for each in latest[: self._parameters.batch - 1]:
                    self._about[each] = self._renewed(self._about[each], now)
            self._about[event] = self._renewed(self._about.pop(event, NEVER), now)
            while len(self._about) > REMEMBERED:
                del self._about[next(iter(self._about))]
        return tuple(found[:MOST_QUERIES])

    def note(self, event: Event) -> None:
        """Store an event that was sent without query, for the next batch of queries."""
        if self._parameters.query_content == "batch" and event not in self._about:
            self._about[event] = NEVER

    def _renewed(self, times: QueryTimes, now: float) -> QueryTimes:
        """Return the times after a query at `now`; half a `timeout` without query begins a new series."""
        return QueryTimes(times.first if now - times.last < self._parameters.timeout / 2 else now, now)

    def _is_advertised(self, event: Event) -> bool:
        return any(each.matches(event) for each in self.advertised[:MOST_QUERIES])

    def _smaller(self, event: Event) -> Event | EventDigest:
        digest = EventDigest.of(event)
        if self._parameters.digest == "smaller" and len(encode_event(event)) <= len(digest.to_bytes()):
            return event
        return digest
