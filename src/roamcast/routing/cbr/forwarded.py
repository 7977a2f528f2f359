"""The filters sent to each neighbour: a filter covered by one of them need not be sent there (section
4.1.1)."""

from __future__ import annotations

from collections.abc import Mapping

from roamcast.content.covering import MinimalCover
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, NodeId
from roamcast.wire.blobs import filter_size


class ForwardedFilters:
    """For each neighbour, the filters that it holds for this node, sent or covered by a sent one.

    Covering is applied per neighbour: a covering filter counts only if it was sent to the same neighbour.
    Suppressed filters are not recorded. A filter that has expired here stays valid at the neighbour, and
    covers others there, until the next renewal.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._covers: dict[NodeId, MinimalCover] = {}

    def renew(self, patterns: Mapping[NodeId, list[Filter]]) -> dict[NodeId, list[Filter]]:
        """Replace the filters that each neighbour is to hold; return the minimal set to send to each."""
        self._covers = {neighbour: self._covers.get(neighbour, MinimalCover()) for neighbour in patterns}
        fewest: dict[NodeId, list[Filter]] = {}
        for neighbour, passed in patterns.items():
            cover, distinct = self._covers[neighbour], list(dict.fromkeys(passed))
            kept, beyond = distinct[: self._capacity], distinct[self._capacity :]
            cover.replace_all(kept)
            fewest[neighbour] = [pattern for pattern in kept if cover.is_minimal(pattern)]
            fewest[neighbour] += [pattern for pattern in beyond if not cover.covers(pattern)]
        return fewest

    def extend(self, neighbour: NodeId, pattern: Filter) -> bool:
        """Add a filter for `neighbour`; return whether it must be sent because no filter sent there covers
        it."""
        cover = self._covers.get(neighbour)
        if cover is None:
            cover = self._covers[neighbour] = MinimalCover()
        if pattern in cover:
            return False
        return cover.add(pattern) if len(cover) < self._capacity else not cover.covers(pattern)

    def forget(self, neighbour: NodeId) -> None:
        """Forget the filters of a neighbour that cannot be reached."""
        self._covers.pop(neighbour, None)

    def footprint(self) -> Footprint:
        """Return the size: neighbour and filter of each entry."""
        entries = sum(map(len, self._covers.values()))
        patterns = sum(filter_size(pattern) for cover in self._covers.values() for pattern in cover)
        return Footprint(entries, 4 * entries + patterns, self._capacity * max(len(self._covers), 1))
