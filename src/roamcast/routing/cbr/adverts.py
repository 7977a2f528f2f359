"""The table of advertisements: which neighbour is nearest to each publisher."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from math import inf
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.cbr.messages import Advert
from roamcast.routing.router import Drop, Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import pattern_size

LAG = 2
"Renewals that a neighbour's news may be behind the newest."


class Offer(NamedTuple):
    """A publisher's pattern, and the neighbours over which it was heard of, the nearest first."""

    publisher: NodeId
    pattern: Filter
    serial: int
    "The newest heard over any neighbour."
    incarnation: int
    "Of the publisher, as said with the newest serial."
    ways: list[tuple[int, NodeId]]
    "Hops from the neighbour to the publisher, and the neighbour; ties go to the lower id."


class Offering:
    """What is known of a publisher's pattern, over whatever neighbour."""

    __slots__ = ("incarnation", "number", "pattern", "publisher", "serial", "time")

    def __init__(self, number: int, advert: Advert, now: float) -> None:
        self.number = number
        "Stands for publisher and pattern in keys: to hash a pattern takes long."
        self.publisher = advert.publisher
        self.pattern = advert.pattern
        self.incarnation = advert.incarnation
        self.serial = advert.serial
        "The newest."
        self.time = now
        "When that was first heard."


class Heard(NamedTuple):
    """An advertisement as one neighbour said it."""

    offering: Offering
    hops: int
    serial: int
    incarnation: int


class AdvertTable:
    """Advertisements from neighbours (AdsTable)."""

    def __init__(self, duration: float, capacity: int, hop_limit: int, serials: bool = True) -> None:
        self._serials = serials
        "Whether an advertisement must be news from the publisher; else any neighbour's word renews a lease."
        self.leases: Leases[tuple[int, NodeId], Heard] = Leases(duration, capacity)
        "By the number of the offering, and the neighbour."
        self._hop_limit = hop_limit
        self._offerings: dict[tuple[NodeId, Filter], Offering] = {}
        "The one without news longest first."
        self._numbers = count()

    def hear(self, advert: Advert, sender: NodeId, now: float) -> tuple[Drop | None, bool]:
        """Enter or renew what a neighbour offers, if it is news from the publisher.

        The second value tells whether nothing new had come from the publisher for the length of a lease.
        """
        serial, hops = advert.serial, advert.hops
        offering = self._offerings.get((advert.publisher, advert.pattern))
        if offering is None:
            silent = True
        else:
            silent = offering.time + self.leases.duration <= now
            held = self.leases.get((offering.number, sender), now)
            if held is not None and serial <= held.serial and self._serials:
                return Drop.DUPLICATE, silent
        if hops >= self._hop_limit:
            return Drop.HOP_LIMIT, silent
        offering = self._follow(offering, advert, silent, now)
        if offering is None:
            return Drop.EXPIRED, silent
        self.leases.renew((offering.number, sender), Heard(offering, hops, serial, advert.incarnation), now)
        return None, silent

    def is_news(self, advert: Advert) -> bool:
        """Whether it is the first of its renewal, over any neighbour."""
        offering = self._offerings.get((advert.publisher, advert.pattern))
        return offering is None or advert.serial > offering.serial

    def _follow(self, offering: Offering | None, advert: Advert, silent: bool, now: float) -> Offering | None:
        """The offering of an advertisement, unless that is old: neighbours must not renew it for ever.

        What is as new as the newest known, or nearly so, counts for the length of a lease after that was
        first heard. A publisher born again counts from one once its earlier incarnation has fallen silent.
        Without serials nothing is old: whatever a neighbour says counts for the length of a lease.
        """
        if offering is None:
            offering = Offering(next(self._numbers), advert, now)
        elif not self._serials:
            del self._offerings[offering.publisher, offering.pattern]
            offering.serial, offering.time = max(offering.serial, advert.serial), now
            offering.incarnation = advert.incarnation
        elif advert.serial > offering.serial or (silent and advert.incarnation != offering.incarnation):
            del self._offerings[offering.publisher, offering.pattern]
            offering.incarnation, offering.serial, offering.time = advert.incarnation, advert.serial, now
        elif silent or advert.incarnation != offering.incarnation or advert.serial < offering.serial - LAG:
            return None
        else:
            return offering
        self._offerings[offering.publisher, offering.pattern] = offering
        if len(self._offerings) > self.leases.capacity:
            del self._offerings[next(iter(self._offerings))]
        return offering

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Drop all that a neighbour offers: it has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[1] == neighbour]:
            self.leases.discard(key)

    def nearest(self, publisher: NodeId, avoid: Collection[NodeId], now: float) -> NodeId | None:
        """The neighbour with fewest hops to a publisher."""
        ways = [
            (heard.hops, neighbour)
            for (_, neighbour), heard in self.leases.items(now)
            if heard.offering.publisher == publisher and neighbour not in avoid
        ]
        return min(ways)[1] if ways else None

    def footprint(self) -> Footprint:
        """Publisher, pattern, neighbour, hops, serial, incarnation and lease of each entry."""
        patterns = sum(pattern_size(heard.offering.pattern) for _, heard in self.leases.items(-inf))
        return Footprint(len(self.leases), 22 * len(self.leases) + patterns, self.leases.capacity)

    def offers(self, now: float) -> list[Offer]:
        """All that is offered now, each with the ways to it."""
        found: dict[int, Offer] = {}
        for (number, neighbour), (offering, hops, serial, incarnation) in self.leases.items(now):
            offer = found.get(number)
            if offer is None:
                ways = [(hops, neighbour)]
                found[number] = Offer(offering.publisher, offering.pattern, serial, incarnation, ways)
            else:
                offer.ways.append((hops, neighbour))
                if serial > offer.serial:
                    found[number] = offer._replace(serial=serial, incarnation=incarnation)
        for offer in found.values():
            offer.ways.sort()
        return list(found.values())
