"""What a principal keeps for its community: the newest copies, and what it has asked providers for."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, Publication
from roamcast.routing.state.leases import Leases


class PublicationCache:
    """Publications that have passed: of equal events the newest, and of all events the last."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: dict[Event, Publication] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, publication: Publication) -> bool:
        """Keep a publication, unless a newer one of its publisher with the same content is kept."""
        held = self._kept.get(publication.event)
        if held is not None and held.publisher == publication.publisher and held.id >= publication.id:
            return False
        self._kept.pop(publication.event, None)
        self._kept[publication.event] = publication
        if len(self._kept) > self._capacity:
            del self._kept[next(iter(self._kept))]
        return True

    def newest(self, wanted: Filter) -> Publication | None:
        """What came last of all that matches."""
        for event, publication in reversed(self._kept.items()):
            if wanted.matches(event):
                return publication
        return None

    def find(self, id: int) -> Publication | None:
        """A publication by its id."""
        return next((each for each in self._kept.values() if each.id == id), None)

    def footprint(self) -> Footprint:
        """Publications as they would be sent."""
        volume = sum(max(each.length, each.size) for each in self._kept.values())
        return Footprint(len(self._kept), volume, self._capacity)


class ProviderRequests:
    """What a principal has asked providers for: equal requests are one (section II)."""

    def __init__(self, again: float, resubscribe: float, capacity: int) -> None:
        self._again = again
        self._resubscribe = resubscribe
        self._last: Leases[Filter, float] = Leases(resubscribe, capacity)

    def due(self, pattern: Filter, served: bool, now: float) -> bool:
        """Whether to ask now, and take it that it is done: sooner again for what has not come."""
        last = self._last.get(pattern, now)
        if last is not None and now - last < (self._resubscribe if served else self._again):
            return False
        self._last.sweep(now)
        self._last.renew(pattern, now, now)
        return True

    def footprint(self) -> Footprint:
        """Pattern and time of each."""
        return Footprint(len(self._last), 20 * len(self._last), self._last.capacity)
