"""Leases: soft state that lapses unless someone renews it, in a table that cannot grow without bound."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, KeysView
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Leases(Generic[K, V]):
    """Values kept for `duration` seconds after their last renewal, or for as long as that renewal said.

    A full table gives up the lease that would lapse first; of equals the one renewed first.
    """

    __slots__ = ("_entries", "_heap", "_order", "capacity", "duration")

    def __init__(self, duration: float, capacity: int) -> None:
        self.duration = duration
        self.capacity = capacity
        self._entries: dict[K, tuple[float, V]] = {}
        "When each lease lapses, and its value, in order of renewal."
        # While all leases last equally long, the order of renewal is the order of expiry: no heap is needed.
        # Once a renewal has said how long, the heap has an item for each; one not held any more is stale.
        self._heap: list[tuple[float, int, K, tuple[float, V]]] | None = None
        self._order = count()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def keys(self) -> KeysView[K]:
        """What is held, lapsed or not: a view that follows the table."""
        return self._entries.keys()

    def renew(self, key: K, value: V, now: float, duration: float | None = None) -> bool:
        """Start the lease of `key` again, with `value`; say whether it is new (or had lapsed)."""
        entries = self._entries
        held = entries.pop(key, None)
        if duration is None and self._heap is None:
            entries[key] = (now + self.duration, value)
            if held is None and len(entries) > self.capacity:
                del entries[next(iter(entries))]
        else:
            self._renew_unequal(key, value, now + (self.duration if duration is None else duration))
        return held is None or held[0] <= now

    def begin(self, key: K, value: V, now: float) -> bool:
        """Start a lease of `key` unless it has one; say whether it starts."""
        entries = self._entries
        if key in entries:
            return entries[key][0] <= now and self.renew(key, value, now)
        if self._heap is None and len(entries) < self.capacity:
            entries[key] = (now + self.duration, value)
            return True
        return self.renew(key, value, now)

    def get(self, key: K, now: float) -> V | None:
        """The value of `key` if its lease has not lapsed."""
        held = self._entries.get(key)
        return held[1] if held is not None and held[0] > now else None

    def items(self, now: float) -> list[tuple[K, V]]:
        """What is alive, in order of renewal."""
        return [(key, held[1]) for key, held in self._entries.items() if held[0] > now]

    def values(self, now: float) -> list[V]:
        """The values of what is alive, in order of renewal."""
        return [value for expires, value in self._entries.values() if expires > now]

    def lapsed(self, now: float) -> Iterator[tuple[K, float]]:
        """What has lapsed and is not yet swept, in order of renewal, and when it did."""
        for key, (expires, _) in self._entries.items():
            if expires <= now:
                yield key, expires
            elif self._heap is None:
                return

    def first(self) -> tuple[K, float] | None:
        """The lease that lapses first, or has lapsed first, and when."""
        entries, heap = self._entries, self._heap
        if heap is None:
            for key, (expires, _) in entries.items():
                return key, expires
            return None
        while heap:
            expires, _, key, entry = heap[0]
            if entries.get(key) is entry:
                return key, expires
            heapq.heappop(heap)
        return None

    def sweep(self, now: float) -> None:
        """Forget what lapsed at or before `now`."""
        entries = self._entries
        while self._heap is None and entries:
            key, held = next(iter(entries.items()))  # a key may take long to hash: it is not looked up
            if held[0] > now:
                return
            del entries[key]
        while (first := self.first()) is not None:
            if first[1] > now:
                return
            del entries[first[0]]
        self._heap = None

    def discard(self, key: K) -> None:
        """Forget `key` at once."""
        self._entries.pop(key, None)

    def _renew_unequal(self, key: K, value: V, expires: float) -> None:
        entries = self._entries
        entries[key] = entry = (expires, value)
        if self._heap is None or len(self._heap) > 2 * len(entries) + 16:
            # The first of its kind, or most items are stale.
            self._heap = [(held[0], next(self._order), key, held) for key, held in entries.items()]
            heapq.heapify(self._heap)
        else:
            heapq.heappush(self._heap, (expires, next(self._order), key, entry))
        if len(entries) > self.capacity and (first := self.first()) is not None:
            del entries[first[0]]
