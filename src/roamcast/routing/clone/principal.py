"""State of a principal: cached publications, and the times of its subscriptions to providers."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, Publication
from roamcast.routing.state.leases import Leases


class PublicationCache:
    """Cached publications, the newest for each distinct event."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: dict[Event, Publication] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, publication: Publication) -> bool:
        """Cache a publication; return False if the publisher's cached copy of the event is as new."""
        held = self._kept.get(publication.event)
        if held is not None and held.publisher == publication.publisher and held.id >= publication.id:
            return False
        self._kept.pop(publication.event, None)
        self._kept[publication.event] = publication
        if len(self._kept) > self._capacity:
            del self._kept[next(iter(self._kept))]
        return True

    def newest(self, filter: Filter) -> Publication | None:
        """Return the most recently cached publication that matches a filter."""
        for event, publication in reversed(self._kept.items()):
            if filter.matches(event):
                return publication
        return None

    def find(self, id: int) -> Publication | None:
        """Return a cached publication by its id."""
        return next((each for each in self._kept.values() if each.id == id), None)

    def footprint(self) -> Footprint:
        """Return the size of the cached publications as sent."""
        volume = sum(max(each.length, each.size) for each in self._kept.values())
        return Footprint(len(self._kept), volume, self._capacity)


class ProviderRequests:
    """Times of a principal's subscriptions to providers; equal ones are aggregated (section II)."""

    def __init__(self, again: float, resubscribe: float, capacity: int) -> None:
        self._again = again
        self._resubscribe = resubscribe
        self._last: Leases[Filter, float] = Leases(resubscribe, capacity)

    def due(self, pattern: Filter, served: bool, now: float) -> bool:
        """Return whether to subscribe now, and record it; without an answer the interval is shorter."""
        last = self._last.get(pattern, now)
        if last is not None and now - last < (self._resubscribe if served else self._again):
            return False
        self._last.sweep(now)
        self._last.renew(pattern, now, now)
        return True

    def footprint(self) -> Footprint:
        """Return the size: filter and time per entry."""
        return Footprint(len(self._last), 20 * len(self._last), self._last.capacity)
