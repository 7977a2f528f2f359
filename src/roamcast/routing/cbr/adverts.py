"""Advertisement table: the neighbours that lead to each publisher, with their distance."""

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
"Maximum number of renewals that a neighbour's advertisement may be behind the newest."


class AdvertRoute(NamedTuple):
    """A neighbour that leads to a publisher; the lesser of two tuples is preferred."""

    behind: int
    "Number of floods by which its advertisement is behind the newest; 0 unless renewals are flooded."
    hops: int
    "Number of hops from the neighbour to the publisher."
    neighbour: NodeId


class AdvertRoutes(NamedTuple):
    """An advertised filter of a publisher, and the neighbours that advertised it, best first."""

    publisher: NodeId
    pattern: Filter
    serial: int
    "The newest serial received from any neighbour."
    incarnation: int
    "The publisher's incarnation that came with the newest serial."
    routes: list[AdvertRoute]


class KnownAdvert:
    """State of one advertised filter of one publisher, independent of the neighbour."""

    __slots__ = ("contradicted", "incarnation", "number", "pattern", "publisher", "serial", "time")

    def __init__(self, number: int, advert: Advert, now: float) -> None:
        self.number = number
        "Replaces publisher and filter in keys, because hashing a filter is slow."
        self.publisher = advert.publisher
        self.pattern = advert.pattern
        self.incarnation = advert.incarnation
        self.serial = advert.serial
        "The newest serial."
        self.time = now
        "When the newest serial was first received [s]."
        self.contradicted = False
        "Whether a neighbour has sent a much older serial since the last renewal."


class NeighbourAdvert(msgspec.Struct):
    """An advertisement as received from one neighbour."""

    known: KnownAdvert
    route: AdvertRoute
    "Its `behind` is correct only while its serial is the newest."
    serial: int
    incarnation: int


class AdvertTable:
    """Leases of the advertisements received from neighbours (AdsTable)."""

    def __init__(
        self, duration: float, capacity: int, hop_limit: int, serials: bool = True, flooded: bool = False
    ) -> None:
        self._serials = serials
        """Whether only a newer serial of the publisher renews a lease; otherwise every repetition by a
        neighbour does."""
        self._flooded = flooded
        "Whether each renewal is flooded; the neighbour of an earlier flood may then have moved away."
        self.leases: Leases[tuple[int, NodeId], NeighbourAdvert] = Leases(duration, capacity)
        "Keyed by the number of the `KnownAdvert` and the neighbour."
        self._hop_limit = hop_limit
        self._adverts: dict[tuple[NodeId, Filter], KnownAdvert] = {}
        "In order of their last news, the oldest first."
        self._numbers = count()
        self._latest: KnownAdvert | None = None
        """The entry of the latest accepted advertisement; it is in the table, since only a new entry evicts.
        Most often the next advertisement has the same filter object, whose hash is slow to compute."""

    def hear(self, advert: Advert, sender: NodeId, now: float) -> tuple[Drop | None, bool]:
        """Add or renew the advertisement of a neighbour if it is news from the publisher.

        Return the drop reason, if any, and whether nothing new had come from the publisher for the length of
        a lease.
        """
        serial, hops = advert.serial, advert.hops
        incarnation, leases = advert.incarnation, self.leases
        known = self._latest
        if known is None or advert.pattern is not known.pattern or advert.publisher != known.publisher:
            known = self._adverts.get((advert.publisher, advert.pattern))
        held = None
        if known is None:
            silent = True
        else:
            silent = known.time + leases.duration <= now
            key = (known.number, sender)
            held = leases.get(key, now)
            if (
                held is not None
                and self._serials
                and serial != held.serial + 1  # the usual renewal
                and not is_newer(serial, held.serial)
            ):
                self._compare(known, advert)
                return DUPLICATE, silent
        if hops >= self._hop_limit:
            return Drop.HOP_LIMIT, silent
        if (
            known is None
            or serial != known.serial
            or incarnation != known.incarnation
            or silent
            or not self._serials
        ):  # Most repeat the newest serial from another neighbour.
            known = self._follow(known, advert, silent, now)
            if known is None:
                return Drop.EXPIRED, silent
        if held is not None and held.route.hops == hops:
            held.serial, held.incarnation = serial, incarnation
        else:
            key = (known.number, sender)
            held = NeighbourAdvert(known, AdvertRoute(0, hops, sender), serial, incarnation)
        self._latest = known
        leases.renew(key, held, now)
        return None, silent

    def is_news(self, advert: Advert) -> bool:
        """Return whether `advert` is the first of its renewal from any neighbour."""
        known = self._adverts.get((advert.publisher, advert.pattern))
        return known is None or is_newer(advert.serial, known.serial)

    def outdate(self, advert: Advert, now: float) -> None:
        """Adopt the newer serial of an advertisement without a usable route, and send it at the next renewal.

        Without a valid lease no node here depends on the publisher, and the serial is not passed on;
        otherwise several serials, each newer than the next in the circle, could circulate for ever.
        """
        known = self._adverts.get((advert.publisher, advert.pattern))
        if (
            known is not None
            and is_newer(advert.serial, known.serial)
            and any(number == known.number for (number, _), _ in self.leases.items(now))
        ):
            self._renumber(known, advert, now)
            known.contradicted = True

    def contradicted(self, sent: Iterable[Advert]) -> list[KnownAdvert]:
        """Return the entries for which a neighbour sent a much older serial since the last call, and whose
        newest serial is not among the adverts in `sent`, which were sent just now.

        The older serial comes from a publisher that does not know the newest one, because that one is forged
        or the publisher has restarted.
        """
        doubtful = [each for each in self._adverts.values() if each.contradicted]
        if not doubtful:
            return []
        for each in doubtful:
            each.contradicted = False
        known = {(advert.publisher, advert.pattern, advert.serial) for advert in sent}
        return [each for each in doubtful if (each.publisher, each.pattern, each.serial) not in known]

    def _follow(
        self, known: KnownAdvert | None, advert: Advert, silent: bool, now: float
    ) -> KnownAdvert | None:
        """Return the entry of an advertisement, or None if it is outdated: neighbours must not renew it
        mutually.

        An advertisement at most `LAG` renewals old is accepted for the length of a lease after the newest was
        first received. A new incarnation of the publisher is accepted once the earlier one has been silent
        for a lease. Without serials every advertisement is accepted.
        """
        if known is None:
            known = KnownAdvert(next(self._numbers), advert, now)
        elif not self._serials:
            del self._adverts[known.publisher, known.pattern]
            if is_newer(advert.serial, known.serial):
                known.serial = advert.serial
            known.incarnation, known.time = advert.incarnation, now
        elif is_newer(advert.serial, known.serial) or (silent and advert.incarnation != known.incarnation):
            self._renumber(known, advert, now)
            return known
        else:
            lags = self._compare(known, advert)
            refused = silent or lags or advert.incarnation != known.incarnation
            return None if refused else known
        self._adverts[known.publisher, known.pattern] = known
        if len(self._adverts) > self.leases.capacity:
            del self._adverts[next(iter(self._adverts))]
        return known

    def _compare(self, known: KnownAdvert, advert: Advert) -> bool:
        """Return whether an advertisement is more than `LAG` renewals old; if so, mark the entry as
        contradicted."""
        lags = behind(advert.serial, known.serial) > LAG
        known.contradicted = known.contradicted or lags
        return lags

    def _renumber(self, known: KnownAdvert, advert: Advert, now: float) -> None:
        """Adopt a newer serial, and move the entry to the end of the eviction order."""
        del self._adverts[known.publisher, known.pattern]
        known.incarnation, known.serial, known.time = advert.incarnation, advert.serial, now
        known.contradicted = False
        self._adverts[known.publisher, known.pattern] = known

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Remove all advertisements of a neighbour that has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[1] == neighbour]:
            self.leases.discard(key)

    def nearest(self, publisher: NodeId, avoid: Collection[NodeId], now: float) -> NodeId | None:
        """Return the neighbour with the fewest hops to `publisher` that is not in `avoid`; None if there is
        none."""
        routes = [
            (held.route.hops, neighbour)
            for (_, neighbour), held in self.leases.items(now)
            if held.known.publisher == publisher and neighbour not in avoid
        ]
        return min(routes)[1] if routes else None

    def footprint(self) -> Footprint:
        """Return the size: publisher, filter, neighbour, hops, serial, incarnation and lease of each
        entry."""
        patterns = sum(filter_size(held.known.pattern) for _, held in self.leases.items(-inf))
        return Footprint(len(self.leases), 22 * len(self.leases) + patterns, self.leases.capacity)

    def routes(self, now: float) -> list[AdvertRoutes]:
        """Return all valid advertisements, each with its routes.

        Routes are ordered by hops, then by neighbour; if renewals are flooded, those of the newest flood come
        first.
        """
        newest: dict[int, NeighbourAdvert] = {}
        routes: dict[int, list[AdvertRoute]] = {}
        for held in self.leases.values(now):
            number = held.known.number
            best = newest.get(number)
            if best is None:
                newest[number] = held
                routes[number] = [self._route(held)]
            else:
                routes[number].append(self._route(held) if self._flooded else held.route)
                if held.serial != best.serial and is_newer(held.serial, best.serial):
                    newest[number] = held
        return [
            AdvertRoutes(
                best.known.publisher,
                best.known.pattern,
                best.serial,
                best.incarnation,
                sorted(routes[number]),
            )
            for number, best in newest.items()
        ]

    def _route(self, held: NeighbourAdvert) -> AdvertRoute:
        lag = behind(held.serial, held.known.serial) if self._flooded else 0
        return held.route._replace(behind=lag) if lag else held.route
