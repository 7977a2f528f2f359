"""A cover of many filters by one filter of limited size, as exact as the size allows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from roamcast.content.box import conjunction as boxes
from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.field_type import Domain
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.grouping.hull import hull
from roamcast.content.schema import EventType

BUDGET = 512
"Default size of a cluster's filter [B]."
WORD = 0.001
"Assumed share of a field's strings that one string has."
HALF = 0.5
"Assumed share of events that pass a test on records, since the number of records is unknown."
LETTER = 0.2
"Factor by which each letter of a prefix or suffix reduces the share."
WIDE = 1e6
"A range of more values than this says nothing about typical values; closeness to zero is used instead."
USUAL = 100.0
"Magnitude of a typical number if its type has no narrow bounds."


class BoundedCover:
    """The union of filters while it fits into `budget` bytes.

    Beyond the budget, the two alternatives are joined repeatedly whose hull adds the fewest events. A new
    filter is compared only with the current alternatives, which the budget limits: its cost does not depend
    on the number of filters before it.
    """

    def __init__(self, type: EventType, budget: int = BUDGET) -> None:
        self.type = type
        self.budget = budget
        self._boxes: dict[Conjunction, tuple[int, float]] = {}
        "The alternatives with their size [B] and their share of all events."
        self._bytes = 9
        self._nearest: dict[Conjunction, tuple[float, Conjunction, Conjunction]] = {}
        "For each alternative, the cheapest earlier one to join it with: cost, alternative, hull of both."
        self._filter: Filter | None = None

    @classmethod
    def of(cls, filters: Iterable[Filter], budget: int = BUDGET) -> Filter:
        """Return the cover of some filters of one event type."""
        given = list(filters)
        cover = cls(given[0].type, budget)
        for each in given:
            cover.add(each)
        return cover.filter

    @property
    def filter(self) -> Filter:
        """The filter that covers all added filters."""
        if self._filter is None:
            self._filter = Filter.of(self.type, list(self._boxes))
        return self._filter

    def add(self, filter: Filter) -> None:
        """Extend the cover by one filter."""
        for box in filter.conjunctions:
            self._insert(box)
        while len(self._boxes) > 1 and (self._bytes > self.budget or len(self._boxes) > MAX_CONJUNCTIONS):
            self._join()

    def _insert(self, box: Conjunction) -> Conjunction:
        """Add a box, replacing the boxes that it covers; return the box that now covers it."""
        for other in self._boxes:
            if boxes.covers(other, box):
                return other
        covered = [each for each in self._boxes if boxes.covers(box, each)]
        nearest = min((self._cost(box, other) for other in self._boxes if other not in covered), default=None)
        size = len(Filter(self.type, (box,)).to_bytes()) - 9
        self._boxes[box] = (size, share(self.type, box))
        self._bytes += size
        self._filter = None
        if nearest is not None:
            self._nearest[box] = nearest
        for other in covered:
            self._remove(other, box)
        return box

    def _remove(self, box: Conjunction, instead: Conjunction) -> None:
        """Remove a box; boxes whose nearest was this one now refer to its replacement `instead`.

        The replacement may not be the nearest of all. Comparing all boxes would cost the square of their
        number.
        """
        size, _ = self._boxes.pop(box)
        self._bytes -= size
        self._filter = None
        self._nearest.pop(box, None)
        for other in [each for each, (_, near, _) in self._nearest.items() if near == box]:
            if other == instead:
                others = (self._cost(other, each) for each in self._boxes if each != other)
                found = min(others, default=None)
                if found is None:
                    del self._nearest[other]
                else:
                    self._nearest[other] = found
            else:
                self._nearest[other] = self._cost(other, instead)

    def _cost(self, box: Conjunction, other: Conjunction) -> tuple[float, Conjunction, Conjunction]:
        """Return the share of events that joining two boxes adds, the other box and the hull."""
        [joined] = hull([Filter(self.type, (box,)), Filter(self.type, (other,))]).conjunctions
        return _Near(
            share(self.type, joined) - share(self.type, box) - share(self.type, other), other, joined
        )

    def _join(self) -> None:
        """Join the two alternatives with the lowest cost."""
        box = min(self._nearest, key=lambda each: self._nearest[each][0])
        _, other, joined = self._nearest[box]
        stands = self._insert(joined)
        for each in (box, other):
            if each in self._boxes and each != stands:
                self._remove(each, stands)


class _Near(tuple[float, Conjunction, Conjunction]):
    """A cost with its boxes; compared by the cost only."""

    __slots__ = ()

    def __new__(cls, cost: float, other: Conjunction, joined: Conjunction) -> _Near:
        return super().__new__(cls, (cost, other, joined))

    def __lt__(self, other: Any) -> bool:
        return bool(self[0] < other[0])


def share(type: EventType, conjunction: Conjunction) -> float:
    """Return the share of events that satisfy a conjunction, assuming independent, uniform fields."""
    found = 1.0
    for place, domain in conjunction:
        found *= _share(type, place, domain)
    return found


def _share(type: EventType, place: int, domain: Domain) -> float:
    if isinstance(domain, RecordListSet):
        return HALF ** (len(domain.required) + (not domain.refused.empty))
    if isinstance(domain, AreaSet):
        return HALF ** len(domain.required)
    if isinstance(domain, PointSet):
        return HALF  # the bounding box of a circle is already counted
    if not isinstance(domain, RangeSet):
        return _of_texts(domain)
    [(low, high)] = type.domain(place).spans  # type: ignore[union-attr]
    if isinstance(low, int) and high - low < WIDE:
        count = sum(last - first + 1 for first, last in domain.spans)
        return min(1.0, max(float(count), 0.5) / float(high - low + 1))
    bounded = float(high) - float(low) < WIDE
    length = 0.0
    for first, last in domain.spans:
        if bounded:
            length += (float(last) - float(first)) / max(float(high) - float(low), 1e-9)
        else:
            length += (math.atan(last / USUAL) - math.atan(first / USUAL)) / math.pi
    return min(1.0, max(length, WORD))


def _of_texts(texts: Any) -> float:
    if texts.values is not None:
        return min(1.0, max(WORD * len(texts.values), WORD / 2))
    letters = max((len(glob[0]) + len(glob[-1]) for glob in texts.like), default=0)
    inside = any(piece for glob in texts.like for piece in glob[1:-1])
    return max((0.5 if inside else 1.0) * LETTER ** min(letters, 4), WORD)
