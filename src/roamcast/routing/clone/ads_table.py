"""AdsTable: advertisements of providers, their positions and the next hops to nearby ones (table I).

Every node stores the positions of providers, since every node may become a principal. The next hop is used
only within two hops of a provider or principal, to find a node that has moved since it reported its position
(section II-B1, figure 2).
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
"Maximum distance at which an entry's next hop is used [hops]."


class ProviderEntry(NamedTuple):
    """The last advertisement of a provider."""

    place: PointCm
    serial: int
    incarnation: int
    hops: int
    "Distance from the provider to this node."
    via: NodeId
    "The neighbour from which the advertisement arrived."


class AdsTable:
    """Advertisements, by provider and filter."""

    def __init__(self, host: Host, geo: Gpsr, community: Community, lease: float, capacity: int) -> None:
        self._host = host
        self._geo = geo
        self._community = community
        self.leases: Leases[tuple[NodeId, Filter], ProviderEntry] = Leases(lease, capacity)
        self._providers: frozenset[NodeId] = frozenset()
        "The providers in the table, those of expired leases included."

    def hear(self, advert: ProviderAdvert, sender: NodeId) -> Drop | None:
        """Store or renew an advertisement, if it is newer than the stored one."""
        now, key = self._host.now(), (advert.provider, advert.pattern)
        held = self.leases.get(key, now)
        if held is not None and not _newer(advert, held):
            return Drop.DUPLICATE
        self.leases.sweep(now)
        entry = ProviderEntry(advert.place, advert.serial, advert.incarnation, advert.hops + 1, sender)
        self.leases.renew(key, entry, now)
        self._providers = frozenset([provider for provider, _ in self.leases])
        return None

    def matching(self, filter: Filter) -> dict[NodeId, PointCm]:
        """Return the providers whose advertisements intersect a filter, with their last known positions."""
        return {
            provider: entry.place
            for (provider, pattern), entry in self.leases.items(self._host.now())
            if pattern.intersects(filter)
        }

    def next_hop(self, target: NodeId) -> NodeId | None:
        """Return the next hop to a nearby provider or principal; None if none is known."""
        now, near = self._host.now(), self._geo.near
        if near.has(target, now):
            return target
        if target == self._community.principal:
            return self._community.next_hop()
        routes: list[tuple[int, NodeId]] = []
        if target in self._providers:  # the search calls this at every hop, mostly for other nodes
            entries = [self.leases.get(key, now) for key in self.leases if key[0] == target]
            routes = [(entry.hops, entry.via) for entry in entries if entry is not None]
        known = self._community.known.get(target, now)
        if known is not None:
            routes.append((known.hops, known.via))
        routes = [route for route in routes if route[0] <= NEAR and near.has(route[1], now)]
        return min(routes)[1] if routes else None

    def span(self) -> int:
        """Return L, the largest hop count of an advertisement, as an estimate of the network's radius."""
        return max([entry.hops for entry in self.leases.values(self._host.now())], default=1)

    def footprint(self) -> Footprint:
        """Return the size of the table."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(float("-inf")))
        return Footprint(len(self.leases), 28 * len(self.leases) + patterns, self.leases.capacity)


def _newer(advert: ProviderAdvert, held: ProviderEntry) -> bool:
    """Return whether an advertisement is newer: from a later incarnation, or later in the same one.

    Incarnations are compared modulo their range; a forged one expires with its lease.
    """
    later = (advert.incarnation - held.incarnation) & 0xFF
    return is_newer(advert.serial, held.serial) if later == 0 else later < 0x80
