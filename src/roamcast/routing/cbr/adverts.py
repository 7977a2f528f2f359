"""The table of advertisements: which neighbour is nearest to each publisher."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from math import inf
from typing import NamedTuple

import msgspec

from roamcast.content.filter import Filter
from roamcast.routing.cbr.messages import Advert
from roamcast.routing.router import DUPLICATE, Drop, Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.serials import behind, is_newer
from roamcast.wire.blobs import filter_size

LAG = 2
"Renewals that a neighbour's news may be behind the newest."


class Way(NamedTuple):
    """A neighbour that leads to a publisher; of two ways the lesser tuple is taken."""

    behind: int
    "Floods between what it told and the newest known; 0 where offers travel from table to table."
    hops: int
    "From the neighbour to the publisher."
    neighbour: NodeId


class AdvertRoutes(NamedTuple):
    """A publisher's pattern, and the neighbours over which it was heard of, the best first."""

    publisher: NodeId
    pattern: Filter
    serial: int
    "The newest heard over any neighbour."
    incarnation: int
    "Of the publisher, as said with the newest serial."
    ways: list[Way]


class KnownAdvert:
    """What is known of a publisher's pattern, over whatever neighbour."""

    __slots__ = ("contradicted", "incarnation", "number", "pattern", "publisher", "serial", "time")

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
        self.contradicted = False
        "Whether a neighbour told a much older serial since the last renewal."


class NeighbourAdvert(msgspec.Struct):
    """An advertisement as one neighbour said it."""

    offering: KnownAdvert
    way: Way
    "As long as its serial is the newest."
    serial: int
    incarnation: int


class AdvertTable:
    """Advertisements from neighbours (AdsTable)."""

    def __init__(
        self, duration: float, capacity: int, hop_limit: int, serials: bool = True, flooded: bool = False
    ) -> None:
        self._serials = serials
        "Whether an advertisement must be news from the publisher; else any neighbour's word renews a lease."
        self._flooded = flooded
        "Whether each renewal is flooded: a neighbour that an earlier flood came over may have gone since."
        self.leases: Leases[tuple[int, NodeId], NeighbourAdvert] = Leases(duration, capacity)
        "By the number of the offering, and the neighbour."
        self._hop_limit = hop_limit
        self._offerings: dict[tuple[NodeId, Filter], KnownAdvert] = {}
        "The one without news longest first."
        self._numbers = count()

    def hear(self, advert: Advert, sender: NodeId, now: float) -> tuple[Drop | None, bool]:
        """Enter or renew what a neighbour offers, if it is news from the publisher.

        The second value tells whether nothing new had come from the publisher for the length of a lease.
        """
        serial, hops = advert.serial, advert.hops
        incarnation, leases = advert.incarnation, self.leases
        offering = self._offerings.get((advert.publisher, advert.pattern))
        held = None
        if offering is None:
            silent = True
        else:
            silent = offering.time + leases.duration <= now
            held = leases.get((offering.number, sender), now)
            if held is not None and self._serials and not is_newer(serial, held.serial):
                self._compare(offering, advert)
                return DUPLICATE, silent
        if hops >= self._hop_limit:
            return Drop.HOP_LIMIT, silent
        if (
            offering is None
            or serial != offering.serial
            or incarnation != offering.incarnation
            or silent
            or not self._serials
        ):  # Most advertisements say the newest serial once more, over another neighbour.
            offering = self._follow(offering, advert, silent, now)
            if offering is None:
                return Drop.EXPIRED, silent
        way = held.way if held is not None and held.way.hops == hops else Way(0, hops, sender)
        leases.renew((offering.number, sender), NeighbourAdvert(offering, way, serial, incarnation), now)
        return None, silent

    def is_news(self, advert: Advert) -> bool:
        """Whether it is the first of its renewal, over any neighbour."""
        offering = self._offerings.get((advert.publisher, advert.pattern))
        return offering is None or is_newer(advert.serial, offering.serial)

    def outdate(self, advert: Advert, now: float) -> None:
        """Take over a newer serial from an advertisement that leads nowhere, and tell it at the next renewal.

        Without a live lease nobody here waits for the publisher, and the serial goes no further: several
        serials, each newer than the next in the circle, do not chase each other for ever.
        """
        offering = self._offerings.get((advert.publisher, advert.pattern))
        if (
            offering is not None
            and is_newer(advert.serial, offering.serial)
            and any(number == offering.number for (number, _), _ in self.leases.items(now))
        ):
            self._renumber(offering, advert, now)
            offering.contradicted = True

    def contradicted(self, told: Iterable[Advert]) -> list[KnownAdvert]:
        """Return the offerings of which a neighbour told a much older serial since the last call, and whose
        newest serial is not among what was `told` just now.

        An older serial comes from a publisher that does not know the newest. Somebody forged that, or the
        publisher has restarted.
        """
        doubtful = [each for each in self._offerings.values() if each.contradicted]
        if not doubtful:
            return []
        for each in doubtful:
            each.contradicted = False
        known = {(advert.publisher, advert.pattern, advert.serial) for advert in told}
        return [each for each in doubtful if (each.publisher, each.pattern, each.serial) not in known]

    def _follow(
        self, offering: KnownAdvert | None, advert: Advert, silent: bool, now: float
    ) -> KnownAdvert | None:
        """The offering of an advertisement, unless that is old: neighbours must not renew it for ever.

        What is as new as the newest known, or nearly so, counts for the length of a lease after that was
        first heard. A publisher born again counts from one once its earlier incarnation has fallen silent.
        Without serials nothing is old: whatever a neighbour says counts for the length of a lease.
        """
        if offering is None:
            offering = KnownAdvert(next(self._numbers), advert, now)
        elif not self._serials:
            del self._offerings[offering.publisher, offering.pattern]
            if is_newer(advert.serial, offering.serial):
                offering.serial = advert.serial
            offering.incarnation, offering.time = advert.incarnation, now
        elif is_newer(advert.serial, offering.serial) or (
            silent and advert.incarnation != offering.incarnation
        ):
            self._renumber(offering, advert, now)
            return offering
        else:
            lags = self._compare(offering, advert)
            refused = silent or lags or advert.incarnation != offering.incarnation
            return None if refused else offering
        self._offerings[offering.publisher, offering.pattern] = offering
        if len(self._offerings) > self.leases.capacity:
            del self._offerings[next(iter(self._offerings))]
        return offering

    def _compare(self, offering: KnownAdvert, advert: Advert) -> bool:
        """Return whether an advertisement is more than `LAG` renewals old, and note that."""
        lags = behind(advert.serial, offering.serial) > LAG
        offering.contradicted = offering.contradicted or lags
        return lags

    def _renumber(self, offering: KnownAdvert, advert: Advert, now: float) -> None:
        """Take over the serial of news, and move the offering to the end of the queue for eviction."""
        del self._offerings[offering.publisher, offering.pattern]
        offering.incarnation, offering.serial, offering.time = advert.incarnation, advert.serial, now
        offering.contradicted = False
        self._offerings[offering.publisher, offering.pattern] = offering

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Drop all that a neighbour offers: it has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[1] == neighbour]:
            self.leases.discard(key)

    def nearest(self, publisher: NodeId, avoid: Collection[NodeId], now: float) -> NodeId | None:
        """The neighbour with fewest hops to a publisher."""
        ways = [
            (heard.way.hops, neighbour)
            for (_, neighbour), heard in self.leases.items(now)
            if heard.offering.publisher == publisher and neighbour not in avoid
        ]
        return min(ways)[1] if ways else None

    def footprint(self) -> Footprint:
        """Publisher, pattern, neighbour, hops, serial, incarnation and lease of each entry."""
        patterns = sum(filter_size(heard.offering.pattern) for _, heard in self.leases.items(-inf))
        return Footprint(len(self.leases), 22 * len(self.leases) + patterns, self.leases.capacity)

    def routes(self, now: float) -> list[AdvertRoutes]:
        """Return all that is offered now, each with the ways to it.

        Ways are ordered by hops, then by neighbour; if renewals are flooded, those of the newest flood come
        first.
        """
        newest: dict[int, NeighbourAdvert] = {}
        ways: dict[int, list[Way]] = {}
        for (number, _), heard in self.leases.items(now):
            best = newest.get(number)
            if best is None:
                newest[number] = heard
                ways[number] = [self._way(heard)]
            else:
                ways[number].append(self._way(heard) if self._flooded else heard.way)
                if heard.serial != best.serial and is_newer(heard.serial, best.serial):
                    newest[number] = heard
        return [
            AdvertRoutes(
                best.offering.publisher,
                best.offering.pattern,
                best.serial,
                best.incarnation,
                sorted(ways[number]),
            )
            for number, best in newest.items()
        ]

    def _way(self, heard: NeighbourAdvert) -> Way:
        lag = behind(heard.serial, heard.offering.serial) if self._flooded else 0
        return heard.way._replace(behind=lag) if lag else heard.way
