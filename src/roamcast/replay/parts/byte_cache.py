"""A cache whose size is bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ByteCache(Generic[Key, Value]):
    """Keeps the values used last, up to `limit` bytes together; None keeps all. Not safe for threads."""

    def __init__(self, limit: int | None, measure: Callable[[Value], int]) -> None:
        self.limit = limit
        self.held = 0
        "Bytes of the values that are kept."
        self._measure = measure
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return a value that is kept, or None."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: Key, value: Value) -> None:
        """Keep a value, and forget those not used for the longest time; one above the limit is not kept."""
        size = self._measure(value)
        if self.limit is not None and size > self.limit:
            return
        if key in self._values:
            self.held -= self._measure(self._values.pop(key))
        self._values[key] = value
        self.held += size
        while self.limit is not None and self.held > self.limit:
            self.held -= self._measure(self._values.popitem(last=False)[1])
