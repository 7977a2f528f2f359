"""A limit in bytes of tables of events, which bounds their memory whatever the size of an event is."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from roamcast.routing.router import Publication

K = TypeVar("K", bound=Hashable)


class ByteBudget:
    """Counts the bytes added to a table, which is measured when they could exceed the limit.

    Then entries are removed down to three quarters of the limit, so that a full table is not measured at each
    addition.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._spare = limit

    def spend(self, added: int) -> bool:
        """Count an addition of `added` bytes; return whether the table has to be measured."""
        self._spare -= added
        return self._spare < 0

    def surplus(self, entries: Iterable[tuple[K, int]]) -> list[K]:
        """Return the keys to remove from a table, given all keys and sizes [B], the least needed first."""
        entries = list(entries)
        total = sum(size for _, size in entries)
        removed = []
        for key, size in entries:
            if total <= 3 * self._limit // 4:
                break
            removed.append(key)
            total -= size
        self._spare = self._limit - total
        return removed


def event_bytes(publication: Publication, nodes: Collection[object] = ()) -> int:
    """Return the size of a stored event [B], with a time and the `nodes` that are stored with it."""
    return max(publication.size, publication.length) + 8 + 13 * len(nodes)
