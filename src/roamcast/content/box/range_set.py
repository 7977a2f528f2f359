"""Sets of ordered values: sorted closed spans of integers, or of floating-point numbers.

Floating-point numbers have neighbours just as integers do, so `x < 20` is the closed span up to
the number before 20, and union, intersection and complement are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

Number: TypeAlias = int | float
Span: TypeAlias = tuple[Number, Number]


def after(value: Number) -> Number:
    """The next value of the same sort; zero has no sign, or equal sets would be written in two ways."""
    return math.nextafter(value, math.inf) + 0.0 if isinstance(value, float) else value + 1


def before(value: Number) -> Number:
    """The previous value of the same sort."""
    return math.nextafter(value, -math.inf) + 0.0 if isinstance(value, float) else value - 1


def coalesce(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Sorted spans with gaps between them, for spans in any order."""
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
    """At most so many spans that hold all of these, the smallest gaps closed."""
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
    "Sorted, disjoint, and not adjacent; `coalesce` makes them so."
    absent: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing satisfies it."""
        return not self.spans and not self.absent

    @property
    def point(self) -> bool:
        """Whether exactly one value satisfies it."""
        return len(self.spans) == 1 and self.spans[0][0] == self.spans[0][1] and not self.absent

    @property
    def patterns(self) -> int:
        """None: numbers have no patterns."""
        return 0

    def has(self, value: Any) -> bool:
        """Whether a stored value (None: missing) satisfies it."""
        if value is None:
            return self.absent
        return any(low <= value <= high for low, high in self.spans)

    def test(self) -> Callable[[Any], bool]:
        """A function as quick as Python allows that says what `has` says."""
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
        """What satisfies both."""
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
        """What satisfies either."""
        return RangeSet(coalesce(self.spans + other.spans), self.absent or other.absent)

    def outside(self, everything: RangeSet) -> list[RangeSet]:
        """What of `everything` does not satisfy it, as alternatives (here at most one)."""
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
        """Whether whatever satisfies `other` satisfies this."""
        if other.absent and not self.absent:
            return False
        mine, theirs = self.spans, other.spans
        if len(mine) == 1:  # nearly always, and routers ask often
            return not theirs or (mine[0][0] <= theirs[0][0] and theirs[-1][1] <= mine[0][1])
        return all(
            any(low <= other_low and other_high <= high for low, high in self.spans)
            for other_low, other_high in other.spans
        )

    def intersects(self, other: RangeSet) -> bool:
        """Whether some value satisfies both."""
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
        """Some stored value that satisfies it (None: missing); a plain one if there is one."""
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
