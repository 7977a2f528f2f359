"""Most-covering: attach to a tree that exists, even if it is not the shortest way (section 4.1.2)."""

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
    """A neighbour on a tree; the smallest is the best."""

    fewness: int
    "The number of its subscriptions there, negated."
    hops: int
    "From the neighbour along the tree to the publisher."
    neighbour: NodeId


class MostCoveringTable:
    """What neighbours say of their subscriptions (MCTable)."""

    def __init__(self, life: float, capacity: int, hop_limit: int, relations: RelationCache) -> None:
        self.leases: Leases[tuple[NodeId, NodeId, Filter], tuple[int, int]] = Leases(life, capacity)
        self._hop_limit = hop_limit
        self._relations = relations

    def hear(self, news: MostCovering, sender: NodeId, now: float) -> Drop | None:
        """Enter or renew a neighbour's branch."""
        if news.hops >= self._hop_limit:
            return Drop.HOP_LIMIT
        self.leases.renew((news.publisher, sender, news.pattern), (news.count, news.hops), now)
        return None

    def forget(self, neighbour: NodeId, now: float) -> None:
        """Drop all that a neighbour said: it has gone."""
        for key in [key for key, _ in self.leases.items(now) if key[1] == neighbour]:
            self.leases.discard(key)

    def footprint(self) -> Footprint:
        """Publisher, neighbour, pattern, count, hops and lease of each entry."""
        patterns = sum(filter_size(pattern) for (_, _, pattern), _ in self.leases.items(-inf))
        return Footprint(len(self.leases), 20 * len(self.leases) + patterns, self.leases.capacity)

    def best(
        self, publisher: NodeId, pattern: Filter, avoid: Collection[NodeId], now: float
    ) -> Branch | None:
        """The neighbour whose tree to `publisher` covers `pattern` with most subscriptions.

        `avoid` holds the neighbours that come to the publisher through us: attaching to one of them
        would close a ring.
        """
        best: Branch | None = None
        for (whose, neighbour, wide), (count, hops) in self.leases.items(now):
            if whose != publisher or neighbour in avoid:
                continue
            branch = Branch(-count, hops, neighbour)
            if (best is None or branch < best) and self._relations.covers(wide, pattern):
                best = branch
        return best
