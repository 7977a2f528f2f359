"""The match index of one event type without the compiled kernel: a loop over all filters.

It gives the same keys as the kernel's. An event among 50 filters takes 6 us instead of 0.3 us, among 10,000
filters 0.8 ms instead of 2.5 us (decision 0371).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.value_test import compile_test


class ScanIndex:
    """Filters by number; `kinds` has a letter for each field, as the kernel's index wants it."""

    def __init__(self, kinds: str) -> None:
        self._fields = len(kinds)
        self._entries: dict[int, tuple[Any, Callable[[tuple[Any, ...]], bool]]] = {}
        self._next = 0

    def add(self, key: object, conjunctions: tuple[Conjunction, ...]) -> int:
        """Add a filter under `key`; return the number by which it leaves."""
        number, self._next = self._next, self._next + 1
        self._entries[number] = key, compile_test(conjunctions)
        return number

    def remove(self, number: int) -> bool:
        """Remove a filter; return whether it was there."""
        return self._entries.pop(number, None) is not None

    def match(self, values: tuple[Any, ...]) -> list[Any]:
        """Return the keys whose filter matches `values`, in the order in which they were added."""
        if len(values) != self._fields:
            raise ValueError("an event of another type")
        return [key for key, test in self._entries.values() if test(values)]

    def bytes(self) -> int:
        """Return 0: nothing is compiled."""
        return 0
