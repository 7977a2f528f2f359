"""The binary encoding of events: the values of the fields, in the order of the type."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from roamcast.content.area_type import AreaType
from roamcast.content.codec.primitives import (
    DISC,
    DOUBLE,
    Reader,
    bounded,
    find_type,
    get_text,
    put_number,
    put_text,
)
from roamcast.content.earth.polygon import MAX_CORNERS, Polygon
from roamcast.content.earth.shapes import Shape, circle, polygon
from roamcast.content.errors import CodecError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, String
from roamcast.content.record_list import MAX_RECORDS, RecordList
from roamcast.content.schema import EventType, Field


def encode_event(event: Event) -> bytes:
    """Return the encoding of `event`."""
    out = bytearray(event.type.fingerprint)
    _put_values(out, event.type, event.values)
    return bounded(out)


def decode_event(data: bytes, types: EventType | Mapping[str, EventType]) -> Event:
    """Decode the output of `encode_event`; raise `CodecError` for other bytes."""
    reader = Reader(data)
    type = find_type(reader, types)
    values = _get_values(reader, type)
    reader.close()
    event = Event(type, values)
    if encode_event(event) != data:
        raise CodecError("the event is not in canonical form")
    return event


def _put_values(out: bytearray, type: EventType, values: tuple[Any, ...]) -> None:
    for field, stored in zip(type.fields, values, strict=True):
        if isinstance(field.kind, RecordList):
            put_number(out, len(stored))
            for record in stored:
                _put_values(out, field.kind.record, record)
            continue
        if field.optional:
            out.append(stored is not None)
        if stored is not None:
            put_value(out, field, stored)


def _get_values(reader: Reader, type: EventType) -> tuple[Any, ...]:
    return tuple(get_field(reader, field) for field in type.fields)


def get_field(reader: Reader, field: Field) -> Any:
    """Decode the stored value of a field, None if it is missing, or the records of a repeated element."""
    if isinstance(field.kind, RecordList):
        count = get_count(reader, field.kind)
        return tuple(_get_values(reader, field.kind.record) for _ in range(count))
    there = not field.optional or bool(reader.number(1))
    return field.kind.store(field.kind.load(get_value(reader, field))) if there else None


def get_count(reader: Reader, kind: RecordList) -> int:
    """Decode the number of records of a repeated element."""
    count = reader.number(MAX_RECORDS)
    kind.check(count)
    reader.check_remaining(count)  # a record takes at least one byte
    return count


def put_value(out: bytearray, field: Field, stored: Any) -> None:
    """Append the encoding of a stored value or bound of a field."""
    if isinstance(field.kind, String):
        put_text(out, stored)
    elif isinstance(field.kind, AreaType):
        _put_shape(out, stored)
    elif isinstance(field.kind, Decimal):
        out += DOUBLE.pack(stored)
    else:
        put_number(out, stored << 1 if stored >= 0 else ~stored << 1 | 1)


def get_value(reader: Reader, field: Field) -> Any:
    """Decode a stored value of a field; raise `CodecError` if it is out of bounds."""
    if isinstance(field.kind, String):
        return get_text(reader)
    if isinstance(field.kind, AreaType):
        return _get_shape(reader)
    if isinstance(field.kind, Decimal):
        stored = DOUBLE.unpack(reader.take(8))[0] + 0.0  # normalise negative zero
    else:
        number = reader.number(1 << 65)
        stored = ~(number >> 1) if number & 1 else number >> 1
    [(low, high)] = field.kind.everything(False).spans  # type: ignore[union-attr]
    if not low <= stored <= high:
        raise CodecError(f"the value of {field.path} is out of bounds")
    return stored


def _put_shape(out: bytearray, shape: Shape) -> None:
    """Append the number of corners and their coordinates; 0 and three numbers for a circle."""
    corners = shape.corners if isinstance(shape, Polygon) else ()
    put_number(out, len(corners))
    for numbers in corners or (shape,):
        out += b"".join(map(DOUBLE.pack, numbers))


def _get_shape(reader: Reader) -> Shape:
    count = reader.number(MAX_CORNERS)
    if not count:
        return circle(*DISC.unpack(reader.take(DISC.size)))
    numbers = struct.unpack(f">{2 * count}d", reader.take(16 * count))
    return polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))
