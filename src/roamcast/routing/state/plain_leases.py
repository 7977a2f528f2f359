"""Leases in Python: the rules, and what the compiled table leaves to Python."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, KeysView
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


_NO_MORE: tuple[str, ...] = ()


class UnequalLeases(Generic[K, V]):
    """The part of a table that deals with leases of unequal duration; the table has the attributes."""

    __slots__ = _NO_MORE

    _entries: dict[K, tuple[float, V]]
    "Key -> (expiry time [s], value), in order of renewal."
    # While all leases have the same duration, the order of renewal is the order of expiry and no heap is
    # needed. After a renewal with its own duration, the heap has an item for each lease; an item whose
    # lease has been replaced or removed is stale.
    _heap: list[tuple[float, int, K, tuple[float, V]]] | None
    _order: int
    "Number of heap items made so far."
    capacity: int

    def lapsed(self, now: float) -> Iterator[tuple[K, float]]:
        """Yield key and expiry time [s] of the expired leases that are still in the table, in order of
        renewal."""
        for key, (expires, _) in self._entries.items():
            if expires <= now:
                yield key, expires
            elif self._heap is None:
                return

    def _renew_unequal(self, key: K, value: V, expires: float) -> None:
        entries = self._entries
        entries[key] = entry = (expires, value)
        if self._heap is None or len(self._heap) > 2 * len(entries) + 16:
            # The first lease with its own duration, or most heap items are stale: rebuild the heap.
            self._heap = [(held[0], self._number(), key, held) for key, held in entries.items()]
            heapq.heapify(self._heap)
        else:
            heapq.heappush(self._heap, (expires, self._number(), key, entry))
        if len(entries) > self.capacity and (first := self._first_unequal()) is not None:
            del entries[first[0]]

    def _first_unequal(self) -> tuple[K, float] | None:
        """Return key and expiry time [s] of the lease that expires first, by the heap."""
        entries, heap = self._entries, self._heap
        while heap:
            expires, _, key, entry = heap[0]
            if entries.get(key) is entry:
                return key, expires
            heapq.heappop(heap)
        return None

    def _sweep_unequal(self, now: float) -> None:
        """Remove all leases that have expired, by the heap, which is no longer needed without leases."""
        while (first := self._first_unequal()) is not None:
            if first[1] > now:
                return
            del self._entries[first[0]]
        self._heap = None

    def _number(self) -> int:
        self._order += 1
        return self._order


class PlainLeases(UnequalLeases[K, V]):
    """Values that are valid for `duration` seconds after their last renewal, or for the duration of that
    renewal.

    A full table evicts the lease that expires first; of equals, the one renewed first.
    """

    __slots__ = ("_entries", "_heap", "_order", "capacity", "duration")

    def __init__(self, duration: float, capacity: int) -> None:
        self.duration = duration
        self.capacity = capacity
        self._entries = {}
        self._heap = None
        self._order = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def keys(self) -> KeysView[K]:
        """Return a live view of all keys in the table, including expired ones."""
        return self._entries.keys()

    def renew(self, key: K, value: V, now: float, duration: float | None = None) -> bool:
        """Start or restart the lease of `key` with `value`; return whether it is new or had expired."""
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
        """Start a lease of `key` unless it has a valid one; return whether a lease was started."""
        entries = self._entries
        if self._heap is None and len(entries) < self.capacity:
            lease = (now + self.duration, value)
            held = entries.setdefault(key, lease)  # hashing a key may be slow: hash it once
            return held is lease or (held[0] <= now and self.renew(key, value, now))
        return (key not in entries or entries[key][0] <= now) and self.renew(key, value, now)

    def get(self, key: K, now: float) -> V | None:
        """Return the value of `key`, or None if it has no valid lease."""
        held = self._entries.get(key)
        return held[1] if held is not None and held[0] > now else None

    def items(self, now: float) -> list[tuple[K, V]]:
        """Return the keys and values of all valid leases, in order of renewal."""
        return [(key, held[1]) for key, held in self._entries.items() if held[0] > now]

    def values(self, now: float) -> list[V]:
        """Return the values of all valid leases, in order of renewal."""
        return [value for expires, value in self._entries.values() if expires > now]

    def first(self) -> tuple[K, float] | None:
        """Return key and expiry time [s] of the lease that expires first; None if the table is empty."""
        if self._heap is not None:
            return self._first_unequal()
        for key, (expires, _) in self._entries.items():
            return key, expires
        return None

    def sweep(self, now: float) -> None:
        """Remove all leases that expired at or before `now`."""
        entries = self._entries
        while self._heap is None and entries:
            key, held = next(iter(entries.items()))  # hashing a key may be slow: avoid a lookup
            if held[0] > now:
                return
            del entries[key]
        if self._heap is not None:
            self._sweep_unequal(now)

    def discard(self, key: K) -> None:
        """Remove the lease of `key`, if there is one."""
        self._entries.pop(key, None)
