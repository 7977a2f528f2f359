"""The table of advertisements: which neighbour is nearest to each publisher."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.cbr.leases import Leases
from roamcast.routing.cbr.messages import HIGHEST_NODE, HIGHEST_SERIAL, Advert
from roamcast.routing.router import Drop, NodeId

LAG = 2
"Renewals that a neighbour's news may be behind the newest."


class Offer(NamedTuple):
    """A publisher's pattern, and the neighbours over which it was heard of, the nearest first."""

    publisher: NodeId
    pattern: Filter
    serial: int
    "The newest heard over any neighbour."
    life: int
    "Of the publisher, as said with the newest serial."
    ways: list[tuple[int, NodeId]]
    "Hops from the neighbour to the publisher, and the neighbour; ties go to the lower id."


class Newest(NamedTuple):
    """The newest word of a publisher on one of its patterns."""

    life: int
    serial: int
    time: float
    "When it was first heard."


class AdvertTable:
    """Advertisements from neighbours (AdsTable)."""

    def __init__(self, life: float, capacity: int, hop_limit: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter, NodeId], tuple[int, int, int]] = Leases(life, capacity)
        self._hop_limit = hop_limit
        self._newest: dict[tuple[NodeId, Filter], Newest] = {}

    def hear(self, advert: Advert, sender: NodeId, now: float) -> Drop | None:
        """Enter or renew what a neighbour offers, if it is news from the publisher."""
        key = (advert.publisher, advert.pattern, sender)
        serial, hops = advert.serial, advert.hops
        held = self.leases.get(key, now)
        if held is not None and serial <= held[1]:
            return Drop.DUPLICATE
        if not (0 <= serial <= HIGHEST_SERIAL and 0 <= advert.publisher <= HIGHEST_NODE):
            return Drop.MALFORMED
        if not 0 <= hops < self._hop_limit:
            return Drop.HOP_LIMIT if hops > 0 else Drop.MALFORMED
        if not self._is_news(advert, now):
            return Drop.EXPIRED
        self.leases.renew(key, (hops, serial, advert.life), now)
        return None

    def is_unheard_of(self, advert: Advert, now: float) -> bool:
        """Whether nothing new has come from its publisher for the length of a lease."""
        newest = self._newest.get((advert.publisher, advert.pattern))
        return newest is None or newest.time + self.leases.life <= now

    def _is_news(self, advert: Advert, now: float) -> bool:
        """Whether the publisher said it lately: neighbours must not renew old news for each other for ever.

        What is as new as the newest known, or nearly so, counts for the length of a lease after that was
        first heard. A publisher born again counts from one once its earlier life has fallen silent.
        """
        key = (advert.publisher, advert.pattern)
        newest = self._newest.get(key)
        silent = newest is not None and newest.time + self.leases.life <= now
        if newest is None or advert.serial > newest.serial or (silent and advert.life != newest.life):
            self._newest.pop(key, None)
            self._newest[key] = Newest(advert.life, advert.serial, now)
            if len(self._newest) > self.leases.capacity:
                del self._newest[next(iter(self._newest))]
            return True
        return not silent and advert.life == newest.life and advert.serial >= newest.serial - LAG

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Drop all that a neighbour offers: it has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[2] == neighbour]:
            self.leases.discard(key)

    def nearest(self, publisher: NodeId, avoid: Collection[NodeId], now: float) -> NodeId | None:
        """The neighbour with fewest hops to a publisher."""
        ways = [
            (hops, neighbour)
            for (whose, _, neighbour), (hops, _, _) in self.leases.items(now)
            if whose == publisher and neighbour not in avoid
        ]
        return min(ways)[1] if ways else None

    def offers(self, now: float) -> list[Offer]:
        """All that is offered now, each with the ways to it."""
        found: dict[tuple[NodeId, Filter], Offer] = {}
        for (publisher, pattern, neighbour), (hops, serial, life) in self.leases.items(now):
            offer = found.get((publisher, pattern))
            if offer is None:
                found[publisher, pattern] = Offer(publisher, pattern, serial, life, [(hops, neighbour)])
            else:
                offer.ways.append((hops, neighbour))
                if serial > offer.serial:
                    found[publisher, pattern] = offer._replace(serial=serial, life=life)
        for offer in found.values():
            offer.ways.sort()
        return list(found.values())
