"""Matching of events with repeated elements, by joining the event's fields with those of each record.

A filter that requires some record is looked up once per record of the event, with the record's fields as
additional fields. Conditions that this lookup cannot express (several tests on records, or the absence of
records) are left out of it, and each filter found is then tested. Derived values (such as a text in lower
case) are further additional fields of the lookups that need them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.conjunction import Conjunction
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Domain, FieldType, String
from roamcast.content.filter import Filter
from roamcast.content.match.compiled import FieldIndex
from roamcast.content.match.derived import BESIDE, derived_letter, derived_value, split
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType

Route: TypeAlias = tuple[int, ...]
"""Field indices of the nested repeated elements whose records are joined with the event."""
_Lookup: TypeAlias = tuple[Route, tuple[tuple[int, int], ...], bool]
"""A route, the derived fields (level, index), and whether the lookup expresses the filter exactly."""


class RecordsIndex:
    """The filters of one event type with repeated elements or derived fields, by number."""

    def __init__(self, type: EventType) -> None:
        self._type = type
        self._keys: list[Any] = []
        "By number; the numbers of removed keys are reused."
        self._free_numbers: list[int] = []
        self._shared: dict[Filter, int] = {}
        "Entry of each distinct filter; keys with equal filters share an entry."
        self._filters: dict[int, Filter] = {}
        "By entry, like the next two."
        self._members: dict[int, dict[int, None]] = {}
        self._routes: dict[int, list[_Lookup]] = {}
        self._entries: dict[int, int] = {}
        "By number."
        self._free: list[int] = []
        self._along: dict[_Lookup, _Along] = {}

    def add(self, key: Any, filter: Filter) -> int:
        """Add a key with its filter; return the number that `remove` takes."""
        entry = self._shared.get(filter)
        if entry is None:
            entry = self._free.pop() if self._free else len(self._filters)
            self._enter(entry, filter)
        if self._free_numbers:
            number = self._free_numbers.pop()
            self._keys[number] = key
        else:
            number = len(self._keys)
            self._keys.append(key)
        self._entries[number] = entry
        self._members[entry][number] = None
        return number

    def remove(self, number: int) -> None:
        """Remove the key with this number."""
        entry = self._entries.pop(number)
        self._keys[number] = None
        self._free_numbers.append(number)
        del self._members[entry][number]
        if self._members[entry]:
            return
        del self._members[entry], self._shared[self._filters.pop(entry)]
        self._free.append(entry)
        for lookup in self._routes.pop(entry):
            along = self._along[lookup]
            along.remove(entry)
            if not along.places:
                del self._along[lookup]

    def match(self, event: Event) -> list[Any]:
        """Return the keys whose filter matches, sorted by number."""
        sure: set[int] = set()
        uncertain: set[int] = set()
        for along in self._along.values():
            along.match(event, sure if along.exact else uncertain)
        values, filters, members = event.values, self._filters, self._members
        sure.update(entry for entry in uncertain - sure if filters[entry].test()(values))
        found: list[int] = []
        for entry in sure:
            found += members[entry]
        found.sort()
        return [self._keys[number] for number in found]

    def _enter(self, entry: int, filter: Filter) -> None:
        flat: dict[_Lookup, list[_Flat]] = {}
        for conjunction in filter.conjunctions:
            for each in _flatten(self._type, conjunction):
                beside = sorted({(n, place) for n, place, _ in each.constraints if place >= BESIDE})
                flat.setdefault((each.route, tuple(beside), each.exact), []).append(each)
        self._shared[filter] = entry
        self._filters[entry] = filter
        self._members[entry] = {}
        self._routes[entry] = list(flat)
        for lookup, several in flat.items():
            along = self._along.get(lookup)
            if along is None:
                along = self._along[lookup] = _Along(self._type, *lookup)
            along.add(entry, several)

    def bytes(self) -> int:
        """Return the memory of the compiled indexes [B]."""
        return sum(along.kernel.bytes() for along in self._along.values())


class _Flat:
    """A conjunction over the fields of the event and of the records along one route."""

    __slots__ = ("constraints", "exact", "route")

    def __init__(self, route: Route, constraints: list[tuple[int, int, Domain]], exact: bool) -> None:
        self.route = route
        self.constraints = constraints
        "(level, field index, allowed values): level 0 is the event, each further level a nested record."
        self.exact = exact


class _Along:
    """The conjunctions along one route, in an index over the fields of all its levels."""

    def __init__(
        self, type: EventType, route: Route, beside: tuple[tuple[int, int], ...], exact: bool
    ) -> None:
        self.route = route
        self.exact = exact
        "Whether a filter that the lookup finds certainly matches."
        self._beside = [[place for n, place in beside if n == level] for level in range(len(route) + 1)]
        self.places: dict[int, int] = {}
        "Number of each entry in the kernel's index."
        self._fields: list[list[int]] = []
        self._columns: dict[tuple[int, int], int] = {}
        letters: list[str] = []
        for level, each in enumerate(_levels(type, route)):
            flat = [
                place for place, f in enumerate(each.fields) if not isinstance(f.kind, RecordList | AreaType)
            ]
            self._fields.append(flat)
            for place in flat:
                self._columns[level, place] = len(letters)
                letters.append(letter(each.fields[place].kind))
            for place in self._beside[level]:
                self._columns[level, place] = len(letters)
                letters.append(derived_letter(place))
        self.kernel = FieldIndex("".join(letters))

    def add(self, entry: int, several: list[_Flat]) -> None:
        columns = self._columns
        conjunctions = tuple(
            tuple(sorted(((columns[n, p], domain) for n, p, domain in each.constraints), key=_column))
            for each in several
        )
        self.places[entry] = self.kernel.add(entry, conjunctions)

    def remove(self, entry: int) -> None:
        self.kernel.remove(self.places.pop(entry))

    def match(self, event: Event, found: set[int]) -> None:
        match = self.kernel.match
        for values in self._laid_out(event.values, 0):
            found.update(match(values))

    def _laid_out(self, values: tuple[Any, ...], level: int) -> Iterator[tuple[Any, ...]]:
        """Yield the event's values joined with those of each combination of records along the route."""
        own = tuple(values[place] for place in self._fields[level])
        if self._beside[level]:
            own += tuple(derived_value(values, place) for place in self._beside[level])
        if level == len(self.route):
            yield own
            return
        for record in values[self.route[level]]:
            for rest in self._laid_out(record, level + 1):
                yield own + rest


def _column(constraint: tuple[int, Domain]) -> int:
    return constraint[0]


def _levels(type: EventType, route: Route) -> Iterator[EventType]:
    yield type
    for place in route:
        type = type.record(type.fields[place].path)
        yield type


def _flatten(type: EventType, conjunction: Conjunction) -> list[_Flat]:
    """Return the conjunction along its most selective route, once per alternative of the records' filter."""
    flat: list[tuple[int, int, Domain]] = []
    repeated: list[tuple[int, RecordListSet]] = []
    round_ones = False
    for place, domain in conjunction:
        if isinstance(domain, RecordListSet):
            repeated.append((place, domain))
        elif isinstance(domain, PointSet):
            round_ones = True  # the lookup uses the bounding box of a circle
        elif isinstance(domain, AreaSet):
            round_ones = True  # and only the latitudes of an area
            flat.extend((0, at, part) for at, part in split(place, domain))
        else:
            flat.extend((0, at, part) for at, part in split(place, domain))
    tests = [(place, each) for place, domain in repeated for each in domain.required]
    if not tests:
        return [_Flat((), flat, not repeated and not round_ones)]
    exact = not round_ones and len(tests) == 1 and all(domain.refused.empty for _, domain in repeated)
    place, filter = max(tests, key=_sharpness)
    found = []
    for inner in filter.conjunctions:
        for each in _flatten(filter.type, inner):
            deeper = [(level + 1, at, domain) for level, at, domain in each.constraints]
            found.append(_Flat((place, *each.route), flat + deeper, exact and each.exact))
    return found


def _sharpness(test: tuple[int, Filter]) -> tuple[float, int]:
    """Return a sort key for tests on records: the selectivity of the weakest alternative, then the number of
    alternatives, fewest last.
    """
    conjunctions = test[1].conjunctions
    return min((sum(_weight(d) for _, d in each) for each in conjunctions), default=0.0), -len(conjunctions)


def _weight(domain: Domain) -> float:
    """Return an estimate of the selectivity: one text is rarer than one of a list or a range."""
    if isinstance(domain, RecordListSet):
        return sum((_sharpness((0, each))[0] for each in domain.required), 0.1)
    if isinstance(domain, StringSet):
        return 3.0 if domain.values is not None else 2.0
    return 1.5 if domain.point else 1.0


def letter(kind: FieldType) -> str:
    """Return the type letter of a field type in the kernel's index."""
    return "t" if isinstance(kind, String) else "d" if isinstance(kind, Decimal) else "i"
