"""Candidates: of many filters the few that may cover a filter, and the few that it may cover."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator
from math import inf
from typing import Any

from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.ranges import Ranges
from roamcast.content.errors import Undecided
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.kind import Domain
from roamcast.content.match import MatchIndex
from roamcast.content.schema import EventType

FEW = 24
"Up to so many filters, asking each is quicker than an index; half as many, and the index goes again."
SHORT = 4
"So few candidates are asked at once; to look for reasons against them would cost more."
LONG = 8
"A column that leaves so many times as many as the best one is not looked at."
HIGHEST_LETTER = 0x10FFFF


class Candidates:
    """Filters by what they say. None is left out wrongly; whoever is found must still be asked."""

    def __init__(self, few: int = FEW) -> None:
        self._few = few
        self._filters: dict[Filter, int] = {}
        "With a number each, in the order of adding."
        self._next = 0
        self._index: _Index | None = None

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._filters

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._filters)

    def add(self, filter: Filter) -> None:
        """Add a filter that is not there yet."""
        number = self._filters[filter] = self._next
        self._next += 1
        if self._index is not None:
            self._index.add(filter, number)
        elif len(self._filters) > self._few:
            self._index = _Index()
            for each, number in self._filters.items():
                self._index.add(each, number)

    def remove(self, filter: Filter) -> None:
        """Remove a filter that is there."""
        number = self._filters.pop(filter)
        if self._index is not None:
            if len(self._filters) <= self._few // 2:
                self._index = None
            else:
                self._index.remove(filter, number)

    def over(self, filter: Filter) -> Collection[Filter]:
        """Those that may cover `filter`."""
        # Whatever covers nothing at all is anything.
        if self._index is None or filter.empty:
            return self._filters
        try:
            return self._index.over(filter)
        except Undecided:
            return self._filters

    def under(self, filter: Filter) -> Collection[Filter]:
        """Those that `filter` may cover."""
        return self._filters if self._index is None else self._index.under(filter)


class _Index:
    """The filters of each event type by what they match, and by the values that they constrain fields to."""

    def __init__(self) -> None:
        self._filters: dict[int, Filter] = {}
        "By number: a set of numbers costs a fraction of a set of filters."
        self._matching: MatchIndex[int] = MatchIndex()
        self._types: dict[EventType, _OfType] = {}
        self._empty: dict[int, None] = {}
        "Those that match nothing, which everything covers."

    def add(self, filter: Filter, number: int) -> None:
        self._filters[number] = filter
        if filter.empty:
            self._empty[number] = None
            return
        self._matching.add(number, filter)
        of_type = self._types.get(filter.type)
        if of_type is None:
            of_type = self._types[filter.type] = _OfType(filter.type)
        of_type.numbers[number] = None
        for place, domain in filter.conjunctions[0]:
            of_type.columns.setdefault(place, _Column()).add(_least_known(domain), number)

    def remove(self, filter: Filter, number: int) -> None:
        del self._filters[number]
        if filter.empty:
            del self._empty[number]
            return
        self._matching.remove(number)
        of_type = self._types[filter.type]
        del of_type.numbers[number]
        if not of_type.numbers:
            del self._types[filter.type]
            return
        for place, domain in filter.conjunctions[0]:
            column = of_type.columns[place]
            column.remove(_least_known(domain), number)
            if not len(column):
                del of_type.columns[place]

    def over(self, filter: Filter) -> list[Filter]:
        """Whoever covers a box matches its corners; without gaps, nobody else matches two opposite ones."""
        of_type = self._types.get(filter.type)
        if of_type is None:
            return []
        low, high = of_type.corners(filter)
        found = self._matching.match(low)
        if len(found) > SHORT:
            both = set(self._matching.match(high))
            found = [number for number in found if number in both]
        return [self._filters[number] for number in found]

    def under(self, filter: Filter) -> list[Filter]:
        """Whoever a box covers constrains all the fields that the box does, and to values inside."""
        found = list(self._empty)
        of_type = self._types.get(filter.type)
        if of_type is not None and not filter.empty:
            if len(filter.conjunctions) == 1 and filter.conjunctions[0]:
                found.extend(of_type.inside(filter.conjunctions[0]))
            else:  # several boxes may cover together what none of them covers alone
                found.extend(of_type.numbers)
        return [self._filters[number] for number in found]


class _OfType:
    """What is known of the filters of one type."""

    __slots__ = ("columns", "highest", "lowest", "numbers", "type")

    def __init__(self, type: EventType) -> None:
        self.type = type
        self.numbers: dict[int, None] = {}
        self.columns: dict[int, _Column] = {}
        "By the place of a field: the filters that constrain it."
        ends = [_ends(domain) for domain in type.everything]
        self.lowest = [low for low, _ in ends]
        self.highest = [high for _, high in ends]

    def corners(self, filter: Filter) -> tuple[Event, Event]:
        """Two opposite corners of a filter's first box: the least and the most of everything."""
        low, high = self.lowest.copy(), self.highest.copy()
        for place, domain in filter.conjunctions[0]:
            low[place], high[place] = _ends(domain)
        return Event(self.type, tuple(low)), Event(self.type, tuple(high))

    def inside(self, box: Conjunction) -> list[int]:
        """Those that constrain the fields of a box to values inside, as far as few looks can tell."""
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
    """The filters that constrain one field, by the least value that they are known to allow there."""

    __slots__ = ("_loose", "_ordered")

    def __init__(self) -> None:
        self._ordered: list[tuple[Any, int]] = []
        self._loose: dict[int, None] = {}
        "Those without such a value: a pattern, or the field must be missing."

    def __len__(self) -> int:
        return len(self._ordered) + len(self._loose)

    def add(self, value: Any, number: int) -> None:
        if value is None:
            self._loose[number] = None
        else:
            insort(self._ordered, (value, number))

    def remove(self, value: Any, number: int) -> None:
        if value is None:
            del self._loose[number]
        else:
            del self._ordered[bisect_left(self._ordered, (value, number))]

    def count(self, domain: Domain) -> int:
        """How many `inside` would tell."""
        return len(self._loose) + sum(end - start for start, end in self._slices(domain))

    def inside(self, domain: Domain) -> list[int]:
        """Those whose least value `domain` has, or who have none."""
        found = list(self._loose)
        for start, end in self._slices(domain):
            found.extend([number for _, number in self._ordered[start:end]])
        return found

    def _slices(self, domain: Domain) -> Iterator[tuple[int, int]]:
        ordered = self._ordered
        if isinstance(domain, Ranges):
            for low, high in domain.spans:
                yield bisect_left(ordered, (low,)), bisect_right(ordered, (high, inf))
        elif domain.values is not None:
            for word in domain.values:
                yield bisect_left(ordered, (word,)), bisect_right(ordered, (word, inf))
        else:
            prefix = max((glob[0] for glob in domain.like), key=len, default="")
            end = len(ordered)
            if prefix and ord(prefix[-1]) < HIGHEST_LETTER:
                end = bisect_left(ordered, (prefix[:-1] + chr(ord(prefix[-1]) + 1),))
            yield bisect_left(ordered, (prefix,)), end


def _least_known(domain: Domain) -> Any:
    """The least value that a field may have, or None where nobody can say at a glance."""
    if isinstance(domain, Ranges):
        return domain.spans[0][0] if domain.spans else None
    return domain.values[0] if domain.values else None


def _ends(domain: Domain) -> tuple[Any, Any]:
    """The least and the greatest value, of patterns some value; None where the field must be missing."""
    if isinstance(domain, Ranges):
        return (domain.spans[0][0], domain.spans[-1][1]) if domain.spans else (None, None)
    if domain.values is not None:
        return (domain.values[0], domain.values[-1]) if domain.values else (None, None)
    some = domain.example()
    return some, some


def _count(found: tuple[int, _Column, Domain]) -> int:
    return found[0]
