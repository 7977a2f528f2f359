"""A tight cover: one filter for many, as exact as its bytes allow."""

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
"Bytes of a group's filter, unless said otherwise."
WORD = 0.001
"Share of the strings of a field that one word is taken for."
HALF = 0.5
"Of events, for each test on records: nothing is known of how many there are."
LETTER = 0.2
"What each letter of a beginning or an ending leaves."
WIDE = 1e6
"Beyond this many values a number's kind says nothing of what is usual; nearness to zero does."
USUAL = 100.0
"The size of a usual number, where its kind has no bounds worth the name."


class BoundedCover:
    """The union of filters while it fits into `budget` bytes; then the two alternatives are joined whose hull
    lets the least through that neither did, again and again.

    An arrival is compared with the alternatives that there are, of which the budget allows few: it costs the
    same however many filters have come before.
    """

    def __init__(self, type: EventType, budget: int = BUDGET) -> None:
        self.type = type
        self.budget = budget
        self._boxes: dict[Conjunction, tuple[int, float]] = {}
        "Alternatives, with their bytes and their share of all events."
        self._bytes = 9
        self._nearest: dict[Conjunction, tuple[float, Conjunction, Conjunction]] = {}
        "For each, the cheapest to join it with among those that came before: cost, which, and their hull."
        self._filter: Filter | None = None

    @classmethod
    def of(cls, filters: Iterable[Filter], budget: int = BUDGET) -> Filter:
        """The tight cover of some filters of one type."""
        given = list(filters)
        cover = cls(given[0].type, budget)
        for each in given:
            cover.add(each)
        return cover.filter

    @property
    def filter(self) -> Filter:
        """What covers everything that was added."""
        if self._filter is None:
            self._filter = Filter.of(self.type, list(self._boxes))
        return self._filter

    def add(self, filter: Filter) -> None:
        """Cover one more."""
        for box in filter.conjunctions:
            self._insert(box)
        while len(self._boxes) > 1 and (self._bytes > self.budget or len(self._boxes) > MAX_CONJUNCTIONS):
            self._join()

    def _insert(self, box: Conjunction) -> Conjunction:
        """Take a box in, instead of those that it covers; the value is the one that now stands for it."""
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
        """Let a box go; those that were nearest to it are now near to what stands there instead.

        That may not be the nearest of all any more. To ask all of them would cost the square of their number.
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
        """What joining two boxes lets through that neither did, the other, and their hull."""
        [joined] = hull([Filter(self.type, (box,)), Filter(self.type, (other,))]).conjunctions
        return _Near(
            share(self.type, joined) - share(self.type, box) - share(self.type, other), other, joined
        )

    def _join(self) -> None:
        """Join the two alternatives that are cheapest to join."""
        box = min(self._nearest, key=lambda each: self._nearest[each][0])
        _, other, joined = self._nearest[box]
        stands = self._insert(joined)
        for each in (box, other):
            if each in self._boxes and each != stands:
                self._remove(each, stands)


class _Near(tuple[float, Conjunction, Conjunction]):
    """A cost with what it is for; compared by the cost alone."""

    __slots__ = ()

    def __new__(cls, cost: float, other: Conjunction, joined: Conjunction) -> _Near:
        return super().__new__(cls, (cost, other, joined))

    def __lt__(self, other: Any) -> bool:
        return bool(self[0] < other[0])


def share(type: EventType, conjunction: Conjunction) -> float:
    """The share of events that satisfy a conjunction, were fields independent and values spread evenly."""
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
        return HALF  # the box around a circle is counted already
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
