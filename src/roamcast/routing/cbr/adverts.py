"""The table of advertisements: which neighbour is nearest to each publisher."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.cbr.leases import Leases
from roamcast.routing.cbr.messages import HIGHEST_NODE, HIGHEST_SERIAL, Advert
from roamcast.routing.router import Drop, NodeId


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


class AdvertTable:
    """Advertisements from neighbours (AdsTable)."""

    def __init__(self, life: float, capacity: int, hop_limit: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter, NodeId], tuple[int, int, int]] = Leases(life, capacity)
        self._hop_limit = hop_limit
        self._known: dict[tuple[NodeId, Filter], float] = {}

    def hear(self, advert: Advert, sender: NodeId, now: float) -> Drop | None:
        """Enter or renew what a neighbour offers; a serial heard before renews nothing."""
        key = (advert.publisher, advert.pattern, sender)
        held = self.leases.get(key, now)
        if held is not None and advert.serial <= held[1]:
            if advert.serial == held[1] and 0 <= advert.hops < self._hop_limit and advert.hops != held[0]:
                self.leases.amend(key, (advert.hops, advert.serial, advert.life))
            return Drop.DUPLICATE
        if not (0 <= advert.serial <= HIGHEST_SERIAL and 0 <= advert.publisher <= HIGHEST_NODE):
            return Drop.MALFORMED
        if not 0 <= advert.hops < self._hop_limit:
            return Drop.HOP_LIMIT if advert.hops > 0 else Drop.MALFORMED
        self.leases.renew(key, (advert.hops, advert.serial, advert.life), now)
        return None

    def first_hearing(self, advert: Advert, now: float) -> bool:
        """Whether nobody has offered this for the length of a lease; asking makes it known."""
        key = (advert.publisher, advert.pattern)
        known = self._known.pop(key, None)
        self._known[key] = now
        if len(self._known) > self.leases.capacity:
            del self._known[next(iter(self._known))]
        return known is None or known + self.leases.life <= now

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
