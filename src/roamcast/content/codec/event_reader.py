"""A fast decoder of events: one pass over the bytes, by a table of operations per event type.

It decodes what `decode_event` decodes and raises the same errors: `decode_event` is the reference
implementation, and reads each field that looks unusual here. The table is data, not generated code, because
types come from other nodes. With the kernel, `EventFields` reads usual events of types without lists.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from roamcast.content.codec.event_bytes import encode_event, get_count, get_field
from roamcast.content.codec.primitives import DOUBLE, MAX_BYTES, Reader, find_type
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, OrderedFieldType, String
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field

try:
    from roamcast._kernel import EventFields
except ImportError:
    EventFields = None  # type: ignore[assignment, misc]

_INTEGER, _TEXT, _DOUBLE, _RECORDS, _UNUSUAL = range(5)

_Step: TypeAlias = "tuple[int, bool, Any, Any, Field, tuple[_Step, ...]]"
"Operation, whether optional, lowest and highest stored value, field, and steps of each record."

_Compiled: TypeAlias = "Callable[[bytes], tuple[Any, ...] | None]"
"Returns the values of an event, or None if anything is unusual."

_unpack_double = DOUBLE.unpack_from
_check_text = String().store


@lru_cache(maxsize=512)
def _compile(type: EventType) -> tuple[_Step, ...]:
    """Return the operations that decode an event of `type`."""
    return tuple(_step(field) for field in type.fields)


def _step(field: Field) -> _Step:
    kind = field.kind
    if isinstance(kind, RecordList):
        return _RECORDS, False, 0, 0, field, tuple(_step(each) for each in kind.record.fields)
    if isinstance(kind, String):
        return _TEXT, field.optional, 0, 0, field, ()
    if not isinstance(kind, OrderedFieldType) or (isinstance(kind, Enumeration) and kind.collapse):
        return _UNUSUAL, field.optional, 0, 0, field, ()
    low, high = kind.bounds()
    return (_DOUBLE if isinstance(kind, Decimal) else _INTEGER), field.optional, low, high, field, ()


def _compiled(steps: tuple[_Step, ...]) -> _Compiled | None:
    """Return the compiled reader of usual events; None if there is none for these fields."""
    if not all(_is_simple(*step[:4]) for step in steps):
        return None
    return EventFields([step[:4] for step in steps]).read


def _is_simple(operation: int, optional: bool, low: Any, high: Any) -> bool:
    fits = operation != _INTEGER or (-(2**63) <= low <= high < 2**63)
    return operation in {_INTEGER, _TEXT, _DOUBLE} and fits


class EventReader:
    """Decodes events of the types in a mapping, which may grow but not shrink."""

    def __init__(self, types: Mapping[str, EventType], *, plain: bool = False) -> None:
        """`plain`: without the compiled kernel."""
        self.types = types
        self._plain = plain or EventFields is None
        self._known: dict[bytes, tuple[EventType, tuple[_Step, ...], _Compiled | None]] = {}

    def read(self, data: bytes) -> Event:
        """Return what `decode_event` returns; raise the same errors."""
        if len(data) > MAX_BYTES:
            raise CodecError(f"{len(data)} bytes; the maximum is {MAX_BYTES}")
        known = self._known.get(data[:8])
        if known is None:
            type = find_type(Reader(data), self.types)
            steps = _compile(type)
            known = self._known[type.fingerprint] = type, steps, None if self._plain else _compiled(steps)
        type, steps, compiled = known
        if compiled is not None:
            usual = compiled(data)
            if usual is not None:
                return Event(type, usual)
        values, at, canonical = _read(data, 8, steps)
        if at != len(data):
            raise CodecError(f"{len(data) - at} bytes follow the end of the data")
        event = Event(type, values)
        if not canonical and encode_event(event) != data:
            raise CodecError("the event is not in canonical form")
        return event


def _read(  # noqa: PLR0912, PLR0915 -- one branch per operation; calls would double the time
    data: bytes, at: int, steps: tuple[_Step, ...]
) -> tuple[tuple[Any, ...], int, bool]:
    """Return the values of `steps`, where they end, and whether their encoding is surely canonical."""
    values: list[Any] = []
    canonical = True
    for operation, optional, low, high, field, inner in steps:
        start = at
        try:
            if optional:
                at += 1
                if not data[start]:
                    values.append(None)
                    continue
            if optional and data[start] > 1:
                pass
            elif operation == _INTEGER:
                number = data[at]
                at += 1
                if number > 0x7F:
                    number, at = _long_number(data, at - 1)
                number = ~(number >> 1) if number & 1 else number >> 1
                if low <= number <= high:
                    values.append(number)
                    continue
            elif operation == _TEXT:
                size = data[at]
                at += 1
                if size > 0x7F:
                    size, at = _long_number(data, at - 1)
                text = data[at : at + size].decode()
                at += size
                if at <= len(data):
                    values.append(text if text.isprintable() else _check_text(text))
                    continue
            elif operation == _DOUBLE:
                value = _unpack_double(data, at)[0]
                if low <= value <= high and (value or not data[at]):  # negative zero is not canonical
                    at += 8
                    values.append(value)
                    continue
            elif operation == _RECORDS:
                found, at, sure = _read_records(data, at, field, inner)
                canonical = canonical and sure
                values.append(found)
                continue
        except (IndexError, UnicodeDecodeError, struct.error, _UnusualNumber):
            pass
        except ContentError:
            if operation == _RECORDS:
                raise
        reader = Reader(data)
        reader.at = start
        values.append(get_field(reader, field))
        at = reader.at
        canonical = False
    return tuple(values), at, canonical


def _read_records(
    data: bytes, start: int, field: Field, inner: tuple[_Step, ...]
) -> tuple[tuple[Any, ...], int, bool]:
    reader = Reader(data)
    reader.at = start
    count = get_count(reader, field.kind)  # type: ignore[arg-type]
    at = reader.at
    canonical = at == start + 1 or data[at - 1] > 0
    records = []
    for _ in range(count):
        record, at, sure = _read(data, at, inner)
        canonical = canonical and sure
        records.append(record)
    return tuple(records), at, canonical


class _UnusualNumber(Exception):
    """A number with too many bytes, or with more than necessary."""


def _long_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of several bytes, and where it ends."""
    value = shift = 0
    for at in range(at, at + 10):  # noqa: B020, PLR1704
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte:
                return value, at + 1
            break
        shift += 7
    raise _UnusualNumber
