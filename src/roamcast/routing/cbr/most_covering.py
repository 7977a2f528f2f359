"""Most-covering: a subscription joins an existing tree even if that is not the shortest path (section
4.1.2)."""

from __future__ import annotations

from collections.abc import Collection
from math import inf
from typing import NamedTuple

from roamcast.content.covering import RelationCache
from roamcast.content.filter import Filter
from roamcast.routing.cbr.messages import MostCovering
from roamcast.routing.router import Drop, Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size


class Branch(NamedTuple):
    """A neighbour on a tree; the least tuple is the best."""

    fewness: int
    "The number of its subscriptions on the tree, negated."
    hops: int
    "Number of hops from the neighbour along the tree to the publisher."
    neighbour: NodeId


class MostCoveringTable:
    """Leases of the subscription counts that neighbours announce (MCTable)."""

    def __init__(self, life: float, capacity: int, hop_limit: int, relations: RelationCache) -> None:
        self.leases: Leases[tuple[NodeId, NodeId, Filter], tuple[int, int]] = Leases(life, capacity)
        self._hop_limit = hop_limit
        self._relations = relations

    def hear(self, news: MostCovering, sender: NodeId, now: float) -> Drop | None:
        """Add or renew a neighbour's branch; return the drop reason, if any."""
        if news.hops >= self._hop_limit:
            return Drop.HOP_LIMIT
        self.leases.renew((news.publisher, sender, news.pattern), (news.count, news.hops), now)
        return None

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Remove all entries of a neighbour that has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[1] == neighbour]:
            self.leases.discard(key)

    def footprint(self) -> Footprint:
        """Return the size: publisher, neighbour, filter, count, hops and lease of each entry."""
        patterns = sum(filter_size(pattern) for (_, _, pattern), _ in self.leases.items(-inf))
        return Footprint(len(self.leases), 20 * len(self.leases) + patterns, self.leases.capacity)

    def best(
        self, publisher: NodeId, pattern: Filter, avoid: Collection[NodeId], now: float
    ) -> Branch | None:
        """Return the neighbour whose tree to `publisher` covers `pattern` with the most subscriptions.

        `avoid` contains the neighbours that reach the publisher through this node: joining one would close a
        loop.
        """
        best: Branch | None = None
        for (whose, neighbour, wide), (count, hops) in self.leases.items(now):
            if whose != publisher or neighbour in avoid:
                continue
            branch = Branch(-count, hops, neighbour)
            if (best is None or branch < best) and self._relations.covers(wide, pattern):
                best = branch
        return best
