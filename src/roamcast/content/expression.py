"""Filters as Python expressions: `(CD.price < 20) & (CD.category == "jazz")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, NoReturn

import msgspec

from roamcast.content.box import constraint
from roamcast.content.box.field_order import compare_fields, pair_index
from roamcast.content.box.point_set import PointSet, point_index
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.earth.shapes import Region, box
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter, unite
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field

_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class FieldExpression:
    """A field of a type, or a container of fields, from which comparisons build filters.

    A comparison with a field of a repeated element holds if some record satisfies it: `alert.info.severity ==
    "Extreme"`. `alert.info.some(lambda info: ...)` requires one record to satisfy several comparisons.
    """

    __slots__ = ("_levels", "_lower", "_path", "_place", "_type")

    def __init__(
        self, type: EventType, path: str, place: int | None, levels: tuple[tuple[EventType, int], ...] = ()
    ) -> None:
        self._type = type
        self._path = path
        self._place = place
        self._levels = levels
        "The enclosing repeated elements from the outermost: their event type and field index."
        self._lower = False
        "Whether comparisons use the text in lower case."

    def __getattr__(self, name: str) -> FieldExpression:
        if name.startswith("__"):
            raise AttributeError(name)
        inside = self._inside()
        for path in (name, f"@{name}"):
            try:
                return inside[path]
            except ContentError:
                continue
        raise AttributeError(str(inside._type.unknown(f"{inside._prefix}{name}")))

    def __getitem__(self, path: str) -> FieldExpression:
        """Return the field at `path` below this one."""
        inside = self._inside()
        found = inside._type[f"{inside._prefix}{path}"]
        return FieldExpression(found._type, found._path, found._place, inside._levels)

    def _inside(self) -> FieldExpression:
        """Return the expression in which the fields below this one are looked up: itself, or its record
        type.
        """
        if self._place is not None and isinstance(self._field.kind, RecordList):
            return FieldExpression(
                self._field.kind.record, "", None, (*self._levels, (self._type, self._place))
            )
        return self

    @property
    def _prefix(self) -> str:
        return f"{self._path}/" if self._path else ""

    def __eq__(self, value: object) -> Filter:  # type: ignore[override]
        return self._compare("=", value)

    def __ne__(self, value: object) -> Filter:  # type: ignore[override]
        return self._compare("!=", value)

    def __lt__(self, value: float | date | str) -> Filter:
        return self._compare("<", value)

    def __le__(self, value: float | date | str) -> Filter:
        return self._compare("<=", value)

    def __gt__(self, value: float | date | str) -> Filter:
        return self._compare(">", value)

    def __ge__(self, value: float | date | str) -> Filter:
        return self._compare(">=", value)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has no truth value: compare it with a value or use exists()")

    def _combine(self, other: object = None) -> NoReturn:
        raise TypeError(
            f"{self!r} is not a filter yet: put each comparison in parentheses, (A < 1) & (B == 2)"
        )

    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _combine

    def __repr__(self) -> str:
        return f"<field {self._path} of {self._type.name}>"

    def isin(self, values: Iterable[Any]) -> Filter:
        """Return a filter for events whose field has one of `values`."""
        if isinstance(values, str):
            raise ContentError(f"{values!r} is one value; expected a list of values")
        each = [self._compare("=", value) for value in values]
        return unite(each[0].type if each else self._type, each)

    def lower(self) -> FieldExpression:
        """Return the field for comparisons in lower case: `CD.title.lower() == "kind of blue"`."""
        found = FieldExpression(self._type, self._path, self._place, self._levels)
        found._lower = True
        return found

    def startswith(self, text: str) -> Filter:
        """Return a filter for events whose field starts with `text`."""
        return self._apply("starts-with", text)

    def endswith(self, text: str) -> Filter:
        """Return a filter for events whose field ends with `text`."""
        return self._apply("ends-with", text)

    def contains(self, text: str) -> Filter:
        """Return a filter for events whose field contains `text`."""
        return self._apply("contains", text)

    def _apply(self, function: str, text: str) -> Filter:
        if self._lower and text:
            return self._filter(constraint.any_case(self._compared, constraint.glob_of(function, text)))
        return self._filter(constraint.apply(self._compared, function, text))

    def like(self, pattern: str) -> Filter:
        """Return a filter for events whose field matches `pattern`, in which `*` stands for any text."""
        if not isinstance(pattern, str):
            raise ContentError(f"{pattern!r} is not a string")
        look = constraint.any_case if self._lower else constraint.like
        return self._filter(look(self._compared, constraint.read_glob(pattern)))

    def some(self, condition: Callable[[FieldExpression], Filter]) -> Filter:
        """Return a filter for events in which one record of this repeated element satisfies `condition`."""
        if self._place is None or not isinstance(self._field.kind, RecordList):
            raise ContentError(f"{self!r} is not a repeated element")
        return self._filter(
            self._field.kind.where(condition(FieldExpression(self._field.kind.record, "", None)))
        )

    def between(self, low: Any, high: Any) -> Filter:
        """Return a filter for events whose field lies between `low` and `high`, inclusive."""
        field = self._compared
        return self._filter(
            constraint.compare(field, ">=", low).meet(constraint.compare(field, "<=", high))  # type: ignore[arg-type]
        )

    def within_circle(self, lat: float, lon: float, metres: float) -> Filter:
        """Return a filter for events whose position or whole area is at most `metres` from the given
        point.
        """
        return self._located(True, constraint.disc(lat, lon, metres))

    def intersects_circle(self, lat: float, lon: float, metres: float) -> Filter:
        """Return a filter for events whose area has a point at most `metres` from the given point."""
        return self._located(False, constraint.disc(lat, lon, metres))

    def within_box(self, south: float, west: float, north: float, east: float) -> Filter:
        """Return a filter for events whose position or whole area lies in a box of degrees."""
        return self._located(True, box(south, west, north, east))

    def intersects_box(self, south: float, west: float, north: float, east: float) -> Filter:
        """Return a filter for events whose area has a point in a box of degrees."""
        return self._located(False, box(south, west, north, east))

    def _located(self, whole: bool, region: Region) -> Filter:
        inside = self._inside()
        type, path = inside._type, inside._path
        areas = constraint.find_areas(type, path)
        if areas:
            tests = [(at, constraint.located(type.fields[at], whole, region)) for at in areas]
            each = [FieldExpression(type, path, at)._filter(test) for at, test in tests]
            return inside._lift(unite(type, each))
        found = constraint.find_location(type, path)
        if found is None:
            raise ContentError(f"{self!r} has neither decimal fields lat and lon nor an area")
        if isinstance(region, Circle):
            return inside._lift(Filter.of(type, [[(point_index(*found), PointSet.where([region]))]]))
        sides: list[Any] = [
            (at, type.fields[at].kind.present().meet(ranges))  # type: ignore[arg-type]
            for at, ranges in zip(found, (region.lats, region.lons), strict=True)
        ]
        return inside._lift(Filter.of(type, [sides]))

    def exists(self) -> Filter:
        """Return a filter for events that have the field."""
        places = self._type.presence_fields(self._path if self._place is None else self._field.path)
        if places is None:
            return self._lift(Filter.everything(self._type))
        fields = self._type.fields
        there = [[(place, constraint.present(fields[place]))] for place in places]
        return self._lift(Filter.of(self._type, there).simplify())

    @property
    def _field(self) -> Field:
        if self._place is None:
            raise self._type.unknown(self._path)
        return self._type.fields[self._place]

    @property
    def _compared(self) -> Field:
        """The field that has the value; for a record with only a value, the record's own field."""
        field = self._field
        return (
            field.kind.record.fields[0] if isinstance(field.kind, RecordList) and field.kind.plain else field
        )

    def _compare(self, operator: str, value: Any) -> Filter:
        if isinstance(value, FieldExpression):
            return self._compare_field(operator, value)
        if not self._lower:
            return self._filter(constraint.compare(self._compared, operator, value))
        if operator not in ("=", "!=") or not isinstance(value, str):
            raise ContentError(f"{self!r} in lower case supports only == and != with a string")
        field = self._compared
        equal: Any = constraint.any_case(field, (value,))
        if not value and field.optional:  # a missing field counts as the empty text here, as in XPath 2.0
            equal = msgspec.structs.replace(equal, absent=True)
        if operator == "=":
            return self._filter(equal)
        rest = [self._filter(each) for each in equal.outside(field.everything)]
        return unite(rest[0].type if rest else self._type, rest)

    def _compare_field(self, operator: str, other: FieldExpression) -> Filter:
        """Return a filter that compares two fields of one event or of one record."""
        if self._type is not other._type or self._levels or other._levels or self._lower or other._lower:
            raise ContentError(
                f"{self!r} and {other!r} cannot be compared: both must be fields of the same record"
            )
        assert self._place is not None
        one, another = self._field, other._field
        first, second = self._place, other._place
        if first == second or second is None:
            raise ContentError(f"{self!r} is compared with itself")
        if first > second:
            return other._compare_field(_FLIPPED[operator], self)
        signs = compare_fields(one, operator, another)
        return Filter.of(self._type, [[(pair_index(first, second), signs)]])

    def _filter(self, domain: Domain) -> Filter:
        assert self._place is not None
        kind = self._field.kind
        if isinstance(kind, RecordList) and not isinstance(domain, RecordListSet):
            domain = kind.where(Filter.of(kind.record, [[(0, domain)]]))
        return self._lift(Filter.of(self._type, [[(self._place, domain)]]))

    def _lift(self, filter: Filter) -> Filter:
        """Return the filter on the event that requires some record to match `filter`."""
        for type, place in reversed(self._levels):
            kind = type.fields[place].kind
            assert isinstance(kind, RecordList)
            filter = Filter.of(type, [[(place, kind.where(filter))]])
        return filter
