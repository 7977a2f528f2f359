"""What a publisher asks about in its join requests, and from when on those who want an event are known."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from roamcast.content.codec import encode_event
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import EventDigest
from roamcast.routing.odmrp.pubsub.messages import MOST_ASKS
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters

REMEMBERED = 1024


class QueryTimes(NamedTuple):
    """A question that is asked again and again: since when, and when last."""

    first: float
    last: float


NEVER = QueryTimes(-inf, -inf)


class PublisherQueries:
    """The questions of one publisher."""

    def __init__(self, parameters: PubSubParameters) -> None:
        self._parameters = parameters
        self.offered: list[Filter] = []
        self._about_offers = NEVER
        "When join requests asked about the advertisement."
        self._about: dict[Event, QueryTimes] = {}
        "When they asked about each event; the latest last."

    def offer(self, offered: Filter) -> None:
        """Advertise one more, which nobody has been asked about yet."""
        self.offered.append(offered)
        self._about_offers = NEVER

    def known_at(self, event: Event, now: float) -> float:
        """From when on all who may want an event have had time to answer; infinite if they were not asked
        lately, and may have been forgotten since."""
        p = self._parameters
        since, known_at = now - p.timeout / 2, inf
        asked = self._about.get(event, NEVER)
        if asked.last > since:
            known_at = asked.first
        asked = self._about_offers
        if asked.last > since and asked.first < known_at and self._is_offered(event):
            known_at = asked.first
        return known_at + (p.settling_time if p.piggyback else p.round_trip)

    def due_queries(
        self, event: Event | None, aboard: bool, now: float
    ) -> tuple[Event | EventDigest | Filter, ...]:
        """The questions of a join request that is sent now, for an event that may be aboard."""
        found: list[Event | EventDigest | Filter] = []
        if self._parameters.query_content == "advertisement" and self.offered:
            found += self.offered[:MOST_ASKS]
            self._about_offers = self._renewed(self._about_offers, now)
        if event is not None:
            if not aboard and not (found and self._is_offered(event)):
                found.append(self._smaller(event))
            if self._parameters.query_content == "batch":
                latest = [each for each in reversed(self._about) if each != event]
                found += [self._smaller(each) for each in latest[: self._parameters.batch - 1]]
                for each in latest[: self._parameters.batch - 1]:
                    self._about[each] = self._renewed(self._about[each], now)
            self._about[event] = self._renewed(self._about.pop(event, NEVER), now)
            while len(self._about) > REMEMBERED:
                del self._about[next(iter(self._about))]
        return tuple(found[:MOST_ASKS])

    def note(self, event: Event) -> None:
        """Remember an event that went without a question, for the next join request to ask about."""
        if self._parameters.query_content == "batch" and event not in self._about:
            self._about[event] = NEVER

    def _renewed(self, asked: QueryTimes, now: float) -> QueryTimes:
        """A question that is asked now: anew, if what the answers to the last one set may have lapsed."""
        return QueryTimes(asked.first if now - asked.last < self._parameters.timeout / 2 else now, now)

    def _is_offered(self, event: Event) -> bool:
        return any(offer.matches(event) for offer in self.offered[:MOST_ASKS])

    def _smaller(self, event: Event) -> Event | EventDigest:
        digest = EventDigest.of(event)
        if self._parameters.digest == "smaller" and len(encode_event(event)) <= len(digest.to_bytes()):
            return event
        return digest
