"""Leases: soft state that lapses unless someone renews it, in a table that cannot grow without bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Leases(Generic[K, V]):
    """Values that live for `life` seconds after their last renewal; the oldest lease makes room."""

    __slots__ = ("_entries", "capacity", "life")

    def __init__(self, life: float, capacity: int) -> None:
        self.life = life
        self.capacity = capacity
        # All leases last equally long, so the order of renewal is the order of expiry.
        self._entries: dict[K, tuple[float, V]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def renew(self, key: K, value: V, now: float) -> bool:
        """Start the lease of `key` again, with `value`; say whether it is new (or had lapsed)."""
        entries = self._entries
        held = entries.pop(key, None)
        entries[key] = (now + self.life, value)
        if len(entries) > self.capacity:
            del entries[next(iter(entries))]
        return held is None or held[0] <= now

    def get(self, key: K, now: float) -> V | None:
        """The value of `key` if its lease has not lapsed."""
        held = self._entries.get(key)
        return held[1] if held is not None and held[0] > now else None

    def items(self, now: float) -> Iterator[tuple[K, V]]:
        """What is alive, the oldest lease first."""
        for key, (expires, value) in self._entries.items():
            if expires > now:
                yield key, value

    def lapsed(self, now: float) -> Iterator[tuple[K, float]]:
        """What has lapsed and is not yet swept, with the time when it did."""
        for key, (expires, _) in self._entries.items():
            if expires > now:
                return
            yield key, expires

    def sweep(self, now: float) -> None:
        """Forget what lapsed at or before `now`."""
        entries = self._entries
        while entries:
            key = next(iter(entries))
            if entries[key][0] > now:
                return
            del entries[key]

    def discard(self, key: K) -> None:
        """Forget `key` at once."""
        self._entries.pop(key, None)
