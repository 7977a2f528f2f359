"""Events: typed, immutable, hashable values of one event type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from roamcast.content.errors import ContentError
from roamcast.content.field_type import FieldType
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType

MAX_JSON = 1 << 20


class Event(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """An event: its type and one value per field, in the order of the type's fields.

    `values` has the stored form of each value (see `roamcast.content.field_type`), or None for a missing
    field; applications use `event["price"]` and `Event.of`.
    """

    type: EventType
    values: tuple[Any, ...]

    @classmethod
    def of(cls, type: EventType, values: Mapping[str, Any]) -> Event:
        """Return an event of Python values, which are given by path or nested as in JSON."""
        found: list[Any] = [None] * len(type.fields)
        for path, value in _flatten(type, values, ""):
            place = type.index(path)
            if found[place] is not None:
                raise ContentError(f"{type.name}: {path!r} is given twice")
            try:
                found[place] = type.fields[place].kind.store(value)
            except ContentError as error:
                raise ContentError(f"{type.name}/{type.fields[place].path}: {error}") from None
        return cls.complete(type, found)

    @classmethod
    def complete(cls, type: EventType, stored: list[Any]) -> Event:
        """Return an event of stored values; raise `ContentError` if a required field is missing."""
        for place, field in enumerate(type.fields):
            if isinstance(field.kind, RecordList):
                stored[place] = tuple(stored[place] or ())
                if not stored[place] and field.kind.least:
                    raise ContentError(f"{type.name}: {field.path!r} is missing")
                field.kind.check(len(stored[place]))
            elif stored[place] is None and not field.optional:
                raise ContentError(f"{type.name}: {field.path!r} is missing")
        for marker, inside in type.markers:
            if stored[marker] is None and any(stored[place] not in (None, ()) for place in inside):
                stored[marker] = 0
        for attribute, owner in type.owned:
            if stored[owner] is None and stored[attribute] is not None:
                raise ContentError(
                    f"{type.name}: {type.fields[attribute].path!r} is set, but its element is missing"
                )
        return cls(type, tuple(stored))

    def __getitem__(self, path: str) -> Any:
        """Return the Python value at `path`, or None if it is missing."""
        place = self.type.index(path)
        stored = self.values[place]
        return None if stored is None else self.type.fields[place].kind.load(stored)

    def get(self, path: str, default: Any = None) -> Any:
        """Return the Python value at `path`, or `default` if the value is missing or the field does not
        exist.
        """
        try:
            value = self[path]
        except ContentError:
            return default
        return default if value is None else value

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the path and the Python value of every field that is not missing."""
        for field, stored in zip(self.type.fields, self.values, strict=True):
            if stored is not None and stored != ():
                yield field.path, field.kind.load(stored)

    def to_mapping(self) -> dict[str, Any]:
        """Return the values by path, with records as lists of mappings; `Event.of` accepts the result."""
        return {path: _plain_records(value) for path, value in self.items()}

    def to_json(self) -> str:
        """Return the event as JSON, nested like its XML: `{"CD": {"@id": 5, "artist": {"name":
        "Davis"}}}`.
        """
        whole = {self.type.name: _nested(self.type, self.values)}
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes, types: EventType | Mapping[str, EventType]) -> Event:
        """Parse the output of `to_json` for one type or for several types by name."""
        if len(text) > MAX_JSON:
            raise ContentError(f"the event has {len(text)} bytes of JSON; the maximum is {MAX_JSON}")
        try:
            whole = json.loads(text, object_pairs_hook=each_key_once)
        except (ValueError, RecursionError) as error:
            raise ContentError(f"not JSON: {str(error)[:200]}") from None
        if not isinstance(whole, dict) or len(whole) != 1:
            raise ContentError('an event in JSON must be an object with one key, its type: {"CD": {...}}')
        [(name, values)] = whole.items()
        type = pick_type(name, types)
        if not isinstance(values, dict):
            raise ContentError(f"{name}: expected an object of fields, not {str(values)[:40]!r}")
        return cls.of(type, values)

    def __repr__(self) -> str:
        return f"{self.type.name}({', '.join(f'{path}={value!r}' for path, value in self.items())})"


def pick_type(name: str, types: EventType | Mapping[str, EventType]) -> EventType:
    """Return the type with the given name; otherwise raise `ContentError` with the known names."""
    known = {types.name: types} if isinstance(types, EventType) else types
    try:
        return known[name]
    except KeyError:
        known_names = ", ".join(known) or "none"
        raise ContentError(f"no event type is called {name[:40]!r}; known: {known_names}") from None


def _plain_records(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [each.to_mapping() if isinstance(each, Event) else each for each in value]


def _nested(type: EventType, values: tuple[Any, ...]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for field, stored in zip(type.fields, values, strict=True):
        if stored is None or stored == ():
            continue
        level = nested
        *outer, last = field.steps
        for step in outer:
            inner = level.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = level[step] = {"": inner}
            level = inner
        plain = _plain(field.kind, stored)
        if isinstance(level.get(last), dict):
            level[last][""] = plain
        else:
            level[last] = plain
    return nested


def _plain(kind: FieldType, stored: Any) -> Any:
    """Return a stored value in its JSON form."""
    if isinstance(kind, RecordList):
        if kind.plain:
            return [_plain(kind.record.fields[0].kind, values[0]) for values in stored]
        return [_nested(kind.record, values) for values in stored]
    value = kind.load(stored)
    return value if isinstance(value, str | int | float) else kind.write(stored)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; raise `ValueError` if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _flatten(type: EventType, values: Mapping[str, Any], outer: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if not isinstance(key, str):
            raise ContentError(f"{type.name}: {key!r} is not the name of a field")
        path = f"{outer}/{key}" if outer and key else outer or key
        if isinstance(value, Mapping) and not (type.has(path) and type.fields_below(path) is None):
            if type.fields_below(path) is None:
                raise type.unknown(path)
            yield from _flatten(type, value, path)
        elif value is not None:
            yield path, value
