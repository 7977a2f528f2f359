"""An index that narrows many filters to those that may cover a filter or that a filter may cover."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from typing import Any

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.conjunction import Conjunction, compares, fields_of
from roamcast.content.box.glob import begins
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.errors import FilterTooComplex
from roamcast.content.event import Event
from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType

FEW = 16
"""Up to this number of filters, a linear search is faster than an index; at half of it the index is
dropped.
"""
SHORT = 4
"With at most this number of candidates, checking each is cheaper than narrowing them further."
LONG = 8
"Skip a column that leaves this many times as many candidates as the best one."
HIGHEST_LETTER = 0x10FFFF


class Candidates:
    """A set of filters with candidate lookup. It misses no filter; the caller must check each candidate."""

    def __init__(self, few: int = FEW) -> None:
        self._few = few
        self._filters: dict[Filter, int] = {}
        "The filters with a number each, in the order of adding."
        self._next = 0
        self._index: _Index | None = None

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._filters

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._filters)

    def add(self, filter: Filter) -> None:
        """Add a filter that is not in the set."""
        number = self._filters[filter] = self._next
        self._next += 1
        if self._index is not None:
            self._index.add(filter, number)
        elif len(self._filters) > self._few:
            self._index = _Index()
            for each, number in self._filters.items():
                self._index.add(each, number)

    def remove(self, filter: Filter) -> None:
        """Remove a filter that is in the set."""
        number = self._filters.pop(filter)
        if self._index is not None:
            if len(self._filters) <= self._few // 2:
                self._index = None
            else:
                self._index.remove(filter, number)

    def over(self, filter: Filter) -> Collection[Filter]:
        """Return the filters that may cover `filter`."""
        # Every filter covers an empty one.
        if self._index is None or filter.empty:
            return self._filters
        try:
            return self._index.over(filter)
        except FilterTooComplex:
            return self._filters

    def under(self, filter: Filter) -> Collection[Filter]:
        """Return the filters that `filter` may cover."""
        return self._filters if self._index is None else self._index.under(filter)


class _Index:
    """The filters of each event type by number; sets of numbers are cheaper than sets of filters."""

    def __init__(self) -> None:
        self._filters: dict[int, Filter] = {}
        self._types: dict[EventType, _OfType] = {}
        self._empty: dict[int, None] = {}
        "Filters that match nothing; every filter covers them."

    def add(self, filter: Filter, number: int) -> None:
        self._filters[number] = filter
        if filter.empty:
            self._empty[number] = None
            return
        of_type = self._types.get(filter.type)
        if of_type is None:
            of_type = self._types[filter.type] = _OfType(filter.type)
        of_type.add(filter, number)

    def remove(self, filter: Filter, number: int) -> None:
        del self._filters[number]
        if filter.empty:
            del self._empty[number]
            return
        of_type = self._types[filter.type]
        of_type.remove(filter, number)
        if not of_type.numbers:
            del self._types[filter.type]

    def over(self, filter: Filter) -> list[Filter]:
        of_type = self._types.get(filter.type)
        return [] if of_type is None else [self._filters[number] for number in of_type.around(filter)]

    def under(self, filter: Filter) -> list[Filter]:
        found = list(self._empty)
        of_type = self._types.get(filter.type)
        if of_type is not None and not filter.empty:
            box = fields_of(filter.conjunctions[0])
            if len(filter.conjunctions) == 1 and box:
                found.extend(of_type.inside(box))
            else:  # several boxes together may cover a filter that none of them covers alone
                found.extend(of_type.numbers)
        return [self._filters[number] for number in found]


class _OfType:
    """The filters of one event type, by the fields that they constrain and by the values that they allow."""

    __slots__ = ("columns", "highest", "lowest", "matching", "numbers", "type")

    def __init__(self, type: EventType) -> None:
        self.type = type
        self.numbers: dict[int, None] = {}
        self.matching: dict[int, MatchIndex[int]] = {}
        "By the set of fields that all conjunctions of a filter constrain, as a bit mask."
        self.columns: dict[int, _Column] = {}
        "By field index: the filters whose first box constrains the field."
        ends = [_ends(domain) for domain in type.everything]
        self.lowest = [low for low, _ in ends]
        self.highest = [high for _, high in ends]

    def add(self, filter: Filter, number: int) -> None:
        self.numbers[number] = None
        self.matching.setdefault(_fields(filter), MatchIndex()).add(number, filter)
        for place, domain in fields_of(filter.conjunctions[0]):
            self.columns.setdefault(place, _Column()).add(_least_known(domain), number)

    def remove(self, filter: Filter, number: int) -> None:
        del self.numbers[number]
        fields = _fields(filter)
        self.matching[fields].remove(number)
        if not len(self.matching[fields]):
            del self.matching[fields]
        for place, domain in fields_of(filter.conjunctions[0]):
            column = self.columns[place]
            column.remove(_least_known(domain), number)
            if not len(column):
                del self.columns[place]

    def around(self, filter: Filter) -> list[int]:
        """Return the candidates that may cover `filter`.

        A filter that covers a box constrains no other fields and matches the box's corners. If no range has
        gaps, only covering filters match two opposite corners.
        """
        if compares(filter.conjunctions[0]):  # its corners need not match it
            return list(self.numbers)
        low, high = self.lowest.copy(), self.highest.copy()
        free = -1
        try:
            for place, domain in filter.conjunctions[0]:
                low[place], high[place] = _ends(domain)
                free &= ~(1 << place)
        except FilterTooComplex:  # no value of it is known
            return list(self.numbers)
        corner, opposite = Event(self.type, tuple(low)), Event(self.type, tuple(high))
        found: list[int] = []
        for fields, matching in self.matching.items():
            if not fields & free:
                numbers = matching.match(corner)
                if len(numbers) > SHORT:
                    both = set(matching.match(opposite))
                    numbers = [number for number in numbers if number in both]
                found += numbers
        return found

    def inside(self, box: Conjunction) -> list[int]:
        """Return the candidates inside `box`: they constrain all fields of the box, to values inside it."""
        found: list[tuple[int, _Column, Domain]] = []
        for place, domain in box:
            column = self.columns.get(place)
            if column is None:
                return []
            found.append((column.count(domain), column, domain))
        found.sort(key=_count)
        fewest, column, domain = found[0]
        numbers = column.inside(domain)
        for count, column, domain in found[1:]:
            if len(numbers) > SHORT and count < LONG * fewest:
                both = set(column.inside(domain))
                numbers = [number for number in numbers if number in both]
        return numbers


class _Column:
    """The filters that constrain one field, by the lowest value that they allow."""

    __slots__ = ("_loose", "_numbers", "_values")

    def __init__(self) -> None:
        self._values: list[Any] = []
        "Sorted; `_numbers` has the filter of each, in the order of adding for equal values."
        self._numbers: list[int] = []
        self._loose: dict[int, None] = {}
        "Filters without a known lowest value: patterns, or the field must be missing."

    def __len__(self) -> int:
        return len(self._values) + len(self._loose)

    def add(self, value: Any, number: int) -> None:
        if value is None:
            self._loose[number] = None
            return
        place = bisect_right(self._values, value)
        self._values.insert(place, value)
        self._numbers.insert(place, number)

    def remove(self, value: Any, number: int) -> None:
        if value is None:
            del self._loose[number]
            return
        first, last = bisect_left(self._values, value), bisect_right(self._values, value)
        place = bisect_left(self._numbers, number, first, last)
        del self._values[place], self._numbers[place]

    def count(self, domain: Domain) -> int:
        """Return the number of filters that `inside` would return."""
        return len(self._loose) + sum(end - start for start, end in self._slices(domain))

    def inside(self, domain: Domain) -> list[int]:
        """Return the filters whose lowest value is in `domain`, and those without one."""
        found = list(self._loose)
        for start, end in self._slices(domain):
            found += self._numbers[start:end]
        return found

    def _slices(self, domain: Domain) -> Iterator[tuple[int, int]]:
        values = self._values
        if isinstance(domain, RecordListSet | PointSet | AreaSet):
            return  # filters on records, positions and areas have no lowest value
        if isinstance(domain, RangeSet):
            for low, high in domain.spans:
                yield bisect_left(values, low), bisect_right(values, high)
        elif domain.values is not None:
            for word in domain.values:
                yield bisect_left(values, word), bisect_right(values, word)
        else:
            prefix = max(map(begins, domain.like), key=len, default="")
            end = len(values)
            if prefix and ord(prefix[-1]) < HIGHEST_LETTER:
                end = bisect_left(values, prefix[:-1] + chr(ord(prefix[-1]) + 1))
            yield bisect_left(values, prefix), end


def _fields(filter: Filter) -> int:
    """Return the fields that a filter constrains as a bit mask, or 0 for several boxes.

    Several boxes together may cover a filter that constrains fewer fields.
    """
    return (
        sum(1 << place for place, _ in fields_of(filter.conjunctions[0]))
        if len(filter.conjunctions) == 1
        else 0
    )


def _least_known(domain: Domain) -> Any:
    """Return the lowest value that a field may have, or None if it is not immediately known."""
    if isinstance(domain, RangeSet):
        return domain.spans[0][0] if domain.spans else None
    if isinstance(domain, RecordListSet | PointSet | AreaSet):
        return None
    return domain.values[0] if domain.values else None


def _ends(domain: Domain) -> tuple[Any, Any]:
    """Return the lowest and highest value, or any value of a pattern; None if the field must be missing."""
    if isinstance(domain, RangeSet):
        return (domain.spans[0][0], domain.spans[-1][1]) if domain.spans else (None, None)
    if isinstance(domain, StringSet) and domain.values is not None:
        return (domain.values[0], domain.values[-1]) if domain.values else (None, None)
    some = domain.example()
    return some, some


def _count(found: tuple[int, _Column, Domain]) -> int:
    return found[0]
