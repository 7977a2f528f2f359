"""What each neighbour has been asked for: whatever that covers need not be sent there (section 4.1.1)."""

from __future__ import annotations

from collections.abc import Mapping

from roamcast.content.covering import MinimalCover
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, NodeId
from roamcast.wire.blobs import filter_size


class ForwardedFilters:
    """For each neighbour, the patterns that it holds for us, sent or covered by what was sent.

    Covering works a neighbour at a time: what covers a pattern must have gone the same way, or it covers
    nothing. Nothing remembers which of them were held back. A pattern that has lapsed here still lives at
    the neighbour, and covers there, until the next renewal says what is wanted now.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._covers: dict[NodeId, MinimalCover] = {}

    def renew(self, patterns: Mapping[NodeId, list[Filter]]) -> dict[NodeId, list[Filter]]:
        """Of the patterns that each neighbour is to hold from now on, the fewest that have to be sent."""
        self._covers = {neighbour: self._covers.get(neighbour, MinimalCover()) for neighbour in patterns}
        fewest: dict[NodeId, list[Filter]] = {}
        for neighbour, wanted in patterns.items():
            cover, distinct = self._covers[neighbour], list(dict.fromkeys(wanted))
            kept, beyond = distinct[: self._capacity], distinct[self._capacity :]
            cover.replace_all(kept)
            fewest[neighbour] = [pattern for pattern in kept if cover.is_minimal(pattern)]
            fewest[neighbour] += [pattern for pattern in beyond if not cover.covers(pattern)]
        return fewest

    def extend(self, neighbour: NodeId, pattern: Filter) -> bool:
        """Have a neighbour hold a new pattern; say whether it must be sent, as nothing there covers it."""
        cover = self._covers.get(neighbour)
        if cover is None:
            cover = self._covers[neighbour] = MinimalCover()
        if pattern in cover:
            return False
        return cover.add(pattern) if len(cover) < self._capacity else not cover.covers(pattern)

    def forget(self, neighbour: NodeId) -> None:
        """Take it that a neighbour has nothing: it cannot be reached."""
        self._covers.pop(neighbour, None)

    def footprint(self) -> Footprint:
        """Neighbour and pattern of each entry."""
        entries = sum(map(len, self._covers.values()))
        patterns = sum(filter_size(pattern) for cover in self._covers.values() for pattern in cover)
        return Footprint(entries, 4 * entries + patterns, self._capacity * max(len(self._covers), 1))
