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
    """What is said: its type, and a value for each field, in the type's order.

    The values are in stored form (see `roamcast.content.field_type`), None where a field is missing;
    people use `event["price"]` and `Event.of`.
    """

    type: EventType
    values: tuple[Any, ...]

    @classmethod
    def of(cls, type: EventType, values: Mapping[str, Any]) -> Event:
        """An event from Python values by path, or nested as JSON nests them."""
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
        """An event from stored values, once nothing that it needs is missing."""
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
                raise ContentError(f"{type.name}: {type.fields[attribute].path!r} without its element")
        return cls(type, tuple(stored))

    def __getitem__(self, path: str) -> Any:
        """The value at `path` as a Python value; None if it is missing."""
        place = self.type.index(path)
        stored = self.values[place]
        return None if stored is None else self.type.fields[place].kind.load(stored)

    def get(self, path: str, default: Any = None) -> Any:
        """The value at `path`, or `default` if it is missing or no such field exists."""
        try:
            value = self[path]
        except ContentError:
            return default
        return default if value is None else value

    def items(self) -> Iterator[tuple[str, Any]]:
        """Path and Python value of every field that is there."""
        for field, stored in zip(self.type.fields, self.values, strict=True):
            if stored is not None and stored != ():
                yield field.path, field.kind.load(stored)

    def to_mapping(self) -> dict[str, Any]:
        """The values by path, records as lists of such mappings; `Event.of` reads it back."""
        return {path: _plain_records(value) for path, value in self.items()}

    def to_json(self) -> str:
        """The event as JSON, nested as its XML is: `{"CD": {"@id": 5, "artist": {"name": "Davis"}}}`."""
        whole = {self.type.name: _nested(self.type, self.values)}
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes, types: EventType | Mapping[str, EventType]) -> Event:
        """Read what `to_json` wrote, for one type or for the types by name."""
        if len(text) > MAX_JSON:
            raise ContentError(f"an event of {len(text)} bytes of JSON; {MAX_JSON} are the most")
        try:
            whole = json.loads(text, object_pairs_hook=each_key_once)
        except (ValueError, RecursionError) as error:
            raise ContentError(f"not JSON: {str(error)[:200]}") from None
        if not isinstance(whole, dict) or len(whole) != 1:
            raise ContentError('an event in JSON is an object with one key, its type: {"CD": {...}}')
        [(name, values)] = whole.items()
        type = pick_type(name, types)
        if not isinstance(values, dict):
            raise ContentError(f"{name}: expected an object of fields, not {str(values)[:40]!r}")
        return cls.of(type, values)

    def __repr__(self) -> str:
        return f"{self.type.name}({', '.join(f'{path}={value!r}' for path, value in self.items())})"


def pick_type(name: str, types: EventType | Mapping[str, EventType]) -> EventType:
    """The type called `name`, or a complaint that says which are known."""
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
    """A value as JSON has it."""
    if isinstance(kind, RecordList):
        if kind.plain:
            return [_plain(kind.record.fields[0].kind, values[0]) for values in stored]
        return [_nested(kind.record, values) for values in stored]
    value = kind.load(stored)
    return value if isinstance(value, str | int | float) else kind.write(stored)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, if it has each key once; of two the last would win unseen."""
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
