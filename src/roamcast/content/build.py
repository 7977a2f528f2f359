"""Filters in Python: `(CD.price < 20) & (CD.category == "jazz")`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, NoReturn

from roamcast.content.box import constraint
from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter, unite
from roamcast.content.kind import Domain
from roamcast.content.schema import EventType, Field


class Term:
    """A field of a type, waiting to be compared; or a container, waiting for one of its fields."""

    __slots__ = ("_path", "_place", "_type")

    def __init__(self, type: EventType, path: str, place: int | None) -> None:
        self._type = type
        self._path = path
        self._place = place

    def __getattr__(self, name: str) -> Term:
        if name.startswith("__"):
            raise AttributeError(name)
        for path in (f"{self._path}/{name}", f"{self._path}/@{name}"):
            try:
                return self._type[path]
            except ContentError:
                continue
        raise AttributeError(str(self._type.unknown(f"{self._path}/{name}")))

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
        raise TypeError(f"{self!r} is neither true nor false: compare it, or ask exists()")

    def _combine(self, other: object = None) -> NoReturn:
        raise TypeError(
            f"{self!r} is not a filter yet: put each comparison in parentheses, (A < 1) & (B == 2)"
        )

    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _combine

    def __repr__(self) -> str:
        return f"<field {self._path} of {self._type.name}>"

    def isin(self, values: Iterable[Any]) -> Filter:
        """It has one of these values."""
        if isinstance(values, str):
            raise ContentError(f"{values!r} is one value; give a list of them")
        return unite(self._type, [self._compare("=", value) for value in values])

    def startswith(self, text: str) -> Filter:
        """Its text begins with `text`."""
        return self._filter(constraint.apply(self._field, "starts-with", text))

    def endswith(self, text: str) -> Filter:
        """Its text ends with `text`."""
        return self._filter(constraint.apply(self._field, "ends-with", text))

    def contains(self, text: str) -> Filter:
        """Its text contains `text`."""
        return self._filter(constraint.apply(self._field, "contains", text))

    def like(self, pattern: str) -> Filter:
        """Its text matches a pattern with `*`, as the papers write containment."""
        if not isinstance(pattern, str):
            raise ContentError(f"{pattern!r} is not a string")
        return self._filter(constraint.like(self._field, constraint.read_glob(pattern)))

    def exists(self) -> Filter:
        """It is there."""
        places = self._type.evidence(self._path if self._place is None else self._field.path)
        if places is None:
            return Filter.everything(self._type)
        fields = self._type.fields
        there = [[(place, constraint.present(fields[place]))] for place in places]
        return Filter.of(self._type, there).simplify()

    @property
    def _field(self) -> Field:
        if self._place is None:
            raise self._type.unknown(self._path)
        return self._type.fields[self._place]

    def _compare(self, operator: str, value: Any) -> Filter:
        if isinstance(value, Term):
            raise ContentError(f"{self!r} and {value!r} cannot be compared; one side must be a value")
        return self._filter(constraint.compare(self._field, operator, value))

    def _filter(self, domain: Domain) -> Filter:
        assert self._place is not None
        return Filter.of(self._type, [[(self._place, domain)]])
