"""Duplicate detection in Python, for installations without the compiled kernel."""

from __future__ import annotations

_LOW_BITS = 2**64 - 1
"Mask of the low 64 bits, which identify a larger or negative number as in the kernel."


class PlainSeen:
    """A bounded set of numbers that removes the oldest first."""

    __slots__ = ("_limit", "_numbers")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[int, None] = {}

    def add(self, number: int) -> bool:
        """Add a number; return whether it is new."""
        if not isinstance(number, int):
            raise TypeError("a seen number must be an integer")
        number &= _LOW_BITS
        if number in self._numbers:
            return False
        self._numbers[number] = None
        if len(self._numbers) > self._limit:
            del self._numbers[next(iter(self._numbers))]
        return True

    def __contains__(self, number: int) -> bool:
        return number & _LOW_BITS in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)
