"""AdsTable: what providers offer and where they were, and near them over whom they are reached (table I).

Everyone keeps where a provider was, since everyone may be a principal. Over whom it is reached is used within
two hops of it, or of a principal, alone: there it finds who has moved since (section II-B1, figure 2).
"""

from __future__ import annotations

from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.clone.community import Community
from roamcast.routing.clone.messages import ProviderAdvert
from roamcast.routing.router import Drop, Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.serials import is_newer
from roamcast.routing.unicast.gpsr.gpsr import Gpsr
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.wire.blobs import filter_size

NEAR = 2
"Hops within which an entry leads to a node."


class ProviderEntry(NamedTuple):
    """What a provider said last."""

    place: PointCm
    serial: int
    incarnation: int
    hops: int
    "From the provider to this node."
    via: NodeId
    "The neighbour that it was heard from."


class AdsTable:
    """Advertisements, by provider and pattern."""

    def __init__(self, host: Host, geo: Gpsr, community: Community, lease: float, capacity: int) -> None:
        self._host = host
        self._geo = geo
        self._community = community
        self.leases: Leases[tuple[NodeId, Filter], ProviderEntry] = Leases(lease, capacity)

    def hear(self, advert: ProviderAdvert, sender: NodeId) -> Drop | None:
        """Enter or renew an advertisement, if it is news from its provider."""
        now, key = self._host.now(), (advert.provider, advert.pattern)
        held = self.leases.get(key, now)
        if held is not None and not _newer(advert, held):
            return Drop.DUPLICATE
        self.leases.sweep(now)
        offer = ProviderEntry(advert.place, advert.serial, advert.incarnation, advert.hops + 1, sender)
        self.leases.renew(key, offer, now)
        return None

    def matching(self, wanted: Filter) -> dict[NodeId, PointCm]:
        """The providers that may have what is wanted, and where they were."""
        return {
            provider: offer.place
            for (provider, pattern), offer in self.leases.items(self._host.now())
            if pattern.intersects(wanted)
        }

    def next_hop(self, target: NodeId) -> NodeId | None:
        """The neighbour over which a provider or principal near by is reached; None if none is known."""
        now, near = self._host.now(), self._geo.near
        if near.has(target, now):
            return target
        if target == self._community.principal:
            return self._community.next_hop()
        # What is searched for asks this at every hop, and is seldom a provider: keys first.
        heard = [self.leases.get(key, now) for key in self.leases if key[0] == target]
        ways = [(offer.hops, offer.via) for offer in heard if offer is not None]
        known = self._community.known.get(target, now)
        if known is not None:
            ways.append((known.hops, known.via))
        ways = [way for way in ways if way[0] <= NEAR and near.has(way[1], now)]
        return min(ways)[1] if ways else None

    def span(self) -> int:
        """L: the hops that the farthest advertisement has come, an estimate of the network's radius."""
        return max([offer.hops for offer in self.leases.values(self._host.now())], default=1)

    def footprint(self) -> Footprint:
        """Provider, pattern, place, serial, incarnation, hops, neighbour and lease of each entry."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(float("-inf")))
        return Footprint(len(self.leases), 28 * len(self.leases) + patterns, self.leases.capacity)


def _newer(advert: ProviderAdvert, held: ProviderEntry) -> bool:
    """Whether an advertisement is of a later incarnation of its provider, or later in the same; incarnations
    run in a circle, and one that was forged lapses with its lease."""
    later = (advert.incarnation - held.incarnation) & 0xFF
    return is_newer(advert.serial, held.serial) if later == 0 else later < 0x80
