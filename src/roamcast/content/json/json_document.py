"""Conversion of events to and from JSON documents; hostile documents are rejected within limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, each_key_once
from roamcast.content.field_type import FieldType, Integer, Presence
from roamcast.content.json.errors import JsonError
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import EventType

MAX_JSON = 1 << 20
"Maximum size of a document or a schema [B]; a longer one is rejected without parsing."
MAX_VALUES = 1 << 14
"Maximum number of objects, arrays and values of a document, since validating each takes time."


def parse_json(data: bytes | str) -> Any:
    """Parse JSON strictly by RFC 8259; raise `JsonError` for other text or duplicate keys."""
    if len(data) > MAX_JSON:
        raise JsonError(f"the document is longer than {MAX_JSON} bytes")
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=each_key_once, parse_constant=_refuse_constant)
    except RecursionError:
        raise JsonError("the document is nested too deeply") from None
    except ValueError as error:  # includes UnicodeDecodeError and JSONDecodeError
        raise JsonError(f"not JSON: {str(error)[:200]}") from None


def read_event(type: EventType, whole: Any, defaults: Mapping[tuple[EventType, str], Any]) -> Event:
    """Return the event of a parsed document; properties that the type does not have are ignored."""
    reader = _Reader(defaults)
    reader.count(whole)
    try:
        return Event.complete(type, reader.values(type, whole, type.name))
    except ContentError as error:
        raise JsonError(str(error)) from None


def plain_event(event: Event) -> dict[str, Any]:
    """Return the event as plain JSON data."""
    return _plain_record(event.type, event.values)


class _Reader:
    """Converts the objects of one document."""

    def __init__(self, defaults: Mapping[tuple[EventType, str], Any]) -> None:
        self.defaults = defaults
        self.values_seen = 0

    def count(self, whole: Any) -> None:
        """Raise `JsonError` if the document has more than `MAX_VALUES` values."""
        left = [whole]
        while left:
            each = left.pop()
            self.values_seen += 1
            if self.values_seen + len(left) > MAX_VALUES:
                raise JsonError(f"the document has more than {MAX_VALUES} values")
            if isinstance(each, dict):
                left.extend(each.values())
            elif isinstance(each, list):
                left.extend(each)

    def values(self, type: EventType, whole: Any, where: str) -> list[Any]:
        """Return the stored values of an event or a record."""
        found: list[Any] = [None] * len(type.fields)
        self.fill(type, whole, "", where, found)
        return found

    def fill(self, type: EventType, whole: Any, path: str, where: str, found: list[Any]) -> None:
        """Store the values of the object at `path` in `found`."""
        if not isinstance(whole, dict):
            raise JsonError(f"{where[:200]}: expected an object, not {str(whole)[:40]!r}")
        prefix = f"{path}/" if path else ""
        if path and type.has(f"{prefix}{VALUE}"):
            found[type.index(f"{prefix}{VALUE}")] = 0
        for key, value in whole.items():
            inner = prefix + key
            at = f"{where}/{key}"
            if value is None or "/" in key or key == VALUE:
                continue
            if type.has(inner):
                place = type.index(inner)
                found[place] = self.store(type.fields[place].kind, value, at)
            elif key and type.fields_below(inner) is not None:
                self.fill(type, value, inner, at, found)
        for (of, default), value in self.defaults.items():
            if of is type and default.rpartition("/")[0] == path and type.has(default) and value is not None:
                place = type.index(default)
                if found[place] is None and whole.get(default.rpartition("/")[2]) is None:
                    found[place] = self.store(type.fields[place].kind, value, f"{where}/{default}")

    def store(self, kind: FieldType, value: Any, where: str) -> Any:
        """Return the stored form of a value."""
        if isinstance(kind, RecordList):
            if not isinstance(value, list):
                raise JsonError(f"{where[:200]}: expected an array, not {str(value)[:40]!r}")
            return tuple(self.record(kind, each, f"{where}/{n}") for n, each in enumerate(value))
        if isinstance(kind, Presence):
            if not isinstance(value, dict):
                raise JsonError(f"{where[:200]}: expected an object, not {str(value)[:40]!r}")
            return 0
        if isinstance(kind, Integer) and isinstance(value, float) and value.is_integer():
            value = int(value)  # 3.0 is an integer in JSON Schema
        try:
            return kind.store(value)
        except ContentError as error:
            raise JsonError(f"{where[:200]}: {str(error)[:200]}") from None

    def record(self, kind: RecordList, value: Any, where: str) -> tuple[Any, ...]:
        """Return the stored form of one item of an array."""
        if kind.plain:
            return (self.store(kind.record.fields[0].kind, value, where),)
        return Event.complete(kind.record, self.values(kind.record, value, where)).values


def _plain_record(type: EventType, values: tuple[Any, ...]) -> dict[str, Any]:
    whole: dict[str, Any] = {}

    def object_at(steps: tuple[str, ...]) -> dict[str, Any]:
        level = whole
        for step in steps:
            level = level.setdefault(step, {})
        return level

    for path in type.always:
        object_at(tuple(path.split("/")))
    for field, stored in zip(type.fields, values, strict=True):
        *outer, last = field.steps
        if isinstance(field.kind, RecordList):
            if stored:
                object_at(tuple(outer))[last] = [_plain_item(field.kind, each) for each in stored]
        elif stored is not None:
            if last == VALUE:
                object_at(tuple(outer))
            else:
                object_at(tuple(outer))[last] = _plain_value(field.kind, stored)
    return whole


def _plain_item(kind: RecordList, record: tuple[Any, ...]) -> Any:
    return (
        _plain_value(kind.record.fields[0].kind, record[0])
        if kind.plain
        else _plain_record(kind.record, record)
    )


def _plain_value(kind: FieldType, stored: Any) -> Any:
    if isinstance(kind, Presence):
        return {}
    value = kind.load(stored)
    return value if isinstance(value, str | int | float) else kind.write(stored)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
