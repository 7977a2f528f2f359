"""Sets of ordered values: sorted closed ranges of integers or of floating-point numbers.

Each floating-point number has a next one, as each integer does. Hence `x < 20` is the closed range up to the
number before 20, and union, intersection and complement are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

Number: TypeAlias = int | float
Span: TypeAlias = tuple[Number, Number]


def after(value: Number) -> Number:
    """Return the next value of the same number type; negative zero is avoided, so that equal sets compare
    equal.
    """
    return math.nextafter(value, math.inf) + 0.0 if isinstance(value, float) else value + 1


def before(value: Number) -> Number:
    """Return the previous value of the same number type."""
    return math.nextafter(value, -math.inf) + 0.0 if isinstance(value, float) else value - 1


def coalesce(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return sorted spans with gaps between them for spans in any order."""
    merged: list[Span] = []
    for low, high in sorted(spans):
        if low > high:
            continue
        if merged and low <= after(merged[-1][1]):
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def thin(spans: tuple[Span, ...], most: int) -> tuple[Span, ...]:
    """Return at most `most` spans that contain all given spans, by closing the smallest gaps."""
    if len(spans) <= most:
        return spans
    gaps = sorted(range(len(spans) - 1), key=lambda n: (spans[n + 1][0] - spans[n][1], n))
    closed = set(gaps[: len(spans) - most])
    found: list[Span] = [spans[0]]
    for n in range(1, len(spans)):
        if n - 1 in closed:
            found[-1] = (found[-1][0], spans[n][1])
        else:
            found.append(spans[n])
    return tuple(found)


class RangeSet(msgspec.Struct, frozen=True, cache_hash=True):
    """The values inside some spans, and whether the field may be missing."""

    spans: tuple[Span, ...]
    "Sorted, disjoint and not adjacent; `coalesce` establishes this."
    absent: bool = False

    @property
    def empty(self) -> bool:
        """Whether the set is empty."""
        return not self.spans and not self.absent

    @property
    def point(self) -> bool:
        """Whether the set has exactly one value and does not include the missing value."""
        return len(self.spans) == 1 and self.spans[0][0] == self.spans[0][1] and not self.absent

    @property
    def patterns(self) -> int:
        """Always 0: numbers have no patterns."""
        return 0

    def has(self, value: Any) -> bool:
        """Return whether a stored value (None: missing) is in the set."""
        if value is None:
            return self.absent
        return any(low <= value <= high for low, high in self.spans)

    def test(self) -> Callable[[Any], bool]:
        """Return a compiled function that is equivalent to `has`."""
        absent = self.absent
        if len(self.spans) == 1:
            low, high = self.spans[0]
            if low == high:
                return frozenset([low, None] if absent else [low]).__contains__
            if absent:
                return lambda value: value is None or low <= value <= high
            return lambda value: value is not None and low <= value <= high
        if all(low == high for low, high in self.spans):
            points: list[Any] = [low for low, _ in self.spans]
            return frozenset([*points, None] if absent else points).__contains__
        return self.has

    def meet(self, other: RangeSet) -> RangeSet:
        """Return the intersection of the two sets."""
        found: list[Span] = []
        mine, theirs = iter(self.spans), iter(other.spans)
        a, b = next(mine, None), next(theirs, None)
        while a and b:
            low, high = max(a[0], b[0]), min(a[1], b[1])
            if low <= high:
                found.append((low, high))
            if a[1] < b[1]:
                a = next(mine, None)
            else:
                b = next(theirs, None)
        return RangeSet(tuple(found), self.absent and other.absent)

    def join(self, other: RangeSet) -> RangeSet:
        """Return the union of the two sets."""
        return RangeSet(coalesce(self.spans + other.spans), self.absent or other.absent)

    def outside(self, everything: RangeSet) -> list[RangeSet]:
        """Return `everything` minus this set, as a list of at most one set."""
        gaps: list[Span] = []
        for low, high in everything.spans:
            start = low
            for mine_low, mine_high in self.spans:
                if mine_high < start or mine_low > high:
                    continue
                if mine_low > start:
                    gaps.append((start, before(mine_low)))
                start = after(mine_high)
            if start <= high:
                gaps.append((start, high))
        rest = RangeSet(tuple(gaps), everything.absent and not self.absent)
        return [] if rest.empty else [rest]

    def covers(self, other: RangeSet) -> bool:
        """Return whether this set contains `other`."""
        if other.absent and not self.absent:
            return False
        mine, theirs = self.spans, other.spans
        if len(mine) == 1:  # the usual case, and routers call this often
            return not theirs or (mine[0][0] <= theirs[0][0] and theirs[-1][1] <= mine[0][1])
        return all(
            any(low <= other_low and other_high <= high for low, high in self.spans)
            for other_low, other_high in other.spans
        )

    def intersects(self, other: RangeSet) -> bool:
        """Return whether the two sets have a common element."""
        if self.absent and other.absent:
            return True
        mine, theirs = self.spans, other.spans
        if len(mine) == 1 and len(theirs) == 1:
            return mine[0][0] <= theirs[0][1] and theirs[0][0] <= mine[0][1]
        return any(
            low <= other_high and other_low <= high
            for low, high in self.spans
            for other_low, other_high in other.spans
        )

    def example(self) -> Any:
        """Return some stored value in the set (None: missing), preferring zero and whole numbers."""
        if not self.spans:
            return None
        for low, high in self.spans:
            if low <= 0 <= high:
                return type(low)(0)
        low, high = self.spans[0]
        if not isinstance(low, float):
            return low if low > 0 else high
        for whole in (math.ceil(low), math.floor(high)) if low > 0 else (math.floor(high), math.ceil(low)):
            if low <= whole <= high:
                return float(whole)
        return low + (high - low) / 2
