"""Events and filters as bytes: few, bounded, and only one way to write each.

Both begin with the type's fingerprint, so that two nodes whose schemas differ refuse each other's
words instead of misreading them. A decoder checks its result by encoding it again.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from roamcast.content.box.areas import MAX_TESTS, Areas, RegionTest
from roamcast.content.box.conjunction import MAX_PATTERNS, Conjunction, conjoin
from roamcast.content.box.constraint import disc, places
from roamcast.content.box.discs import MAX_DISCS, SPOT, Discs
from roamcast.content.box.glob import CASELESS, Glob, lower
from roamcast.content.box.order import MAX_PAIRS, PAIR, compare_fields, members
from roamcast.content.box.ranges import Ranges, coalesce
from roamcast.content.box.repeats import MAX_REQUIRED, Repeats
from roamcast.content.box.texts import Texts
from roamcast.content.earth.polygon import MAX_CORNERS, Ring
from roamcast.content.earth.shapes import Box, Shape, box, circle, polygon
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.event import Event
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.kind import Decimal, Domain, String
from roamcast.content.kind_area import Area
from roamcast.content.repetition import MAX_RECORDS, Records
from roamcast.content.schema import EventType, Field

MAX_BYTES = 1 << 16
"An event or filter that needs more is refused on both sides."

_CASELESS = bytes([1, *CASELESS.encode()])
_DOUBLE = struct.Struct(">d")
_DISC = struct.Struct(">3d")


def encode_event(event: Event) -> bytes:
    """The event in bytes."""
    out = bytearray(event.type.fingerprint)
    _put_values(out, event.type, event.values)
    return _bounded(out)


def decode_event(data: bytes, types: EventType | Mapping[str, EventType]) -> Event:
    """Read what `encode_event` wrote, and refuse anything else."""
    reader = _Reader(data)
    type = _find_type(reader, types)
    values = _get_values(reader, type)
    reader.close()
    event = Event(type, values)
    if encode_event(event) != data:
        raise CodecError("an event that its encoder would have written otherwise")
    return event


def encode_filter(filter: Filter) -> bytes:
    """The filter in bytes."""
    out = bytearray(filter.type.fingerprint)
    _put_filter(out, filter)
    return _bounded(out)


def decode_filter(data: bytes, types: EventType | Mapping[str, EventType]) -> Filter:
    """Read what `encode_filter` wrote, and refuse anything else."""
    reader = _Reader(data)
    type = _find_type(reader, types)
    filter = _get_filter(reader, type)
    reader.close()
    if encode_filter(filter) != data:
        raise CodecError("a filter that its encoder would have written otherwise")
    return filter


def _find_type(reader: _Reader, types: EventType | Mapping[str, EventType]) -> EventType:
    fingerprint = reader.take(8)
    for type in [types] if isinstance(types, EventType) else types.values():
        if type.fingerprint == fingerprint:
            return type
    raise CodecError(f"an event type that is not known here (fingerprint {fingerprint.hex()})")


def _put_values(out: bytearray, type: EventType, values: tuple[Any, ...]) -> None:
    for field, stored in zip(type.fields, values, strict=True):
        if isinstance(field.kind, Records):
            _put(out, len(stored))
            for record in stored:
                _put_values(out, field.kind.record, record)
            continue
        if field.optional:
            out.append(stored is not None)
        if stored is not None:
            _put_value(out, field, stored)


def _get_values(reader: _Reader, type: EventType) -> tuple[Any, ...]:
    values: list[Any] = []
    for field in type.fields:
        if isinstance(field.kind, Records):
            count = reader.number(MAX_RECORDS)
            field.kind.check(count)
            reader.promise(
                count
            )  # a record takes a byte or more: one that takes none is refused with its type
            values.append(tuple(_get_values(reader, field.kind.record) for _ in range(count)))
            continue
        there = not field.optional or bool(reader.number(1))
        values.append(field.kind.store(field.kind.load(_get_value(reader, field))) if there else None)
    return tuple(values)


def _put_filter(out: bytearray, filter: Filter) -> None:
    _put(out, len(filter.conjunctions))
    for each in filter.conjunctions:
        _put(out, len(each))
        for place, domain in each:
            _put(out, place)
            if isinstance(domain, Discs):
                _put(out, len(domain.inside))
                _put(out, len(domain.outside_of))
                for disc in domain.inside + domain.outside_of:
                    out += _DISC.pack(*disc)
            elif place >= PAIR:
                out.append(sum(1 << n for n, value in enumerate((-1, 0, 1, None)) if domain.has(value)))
            else:
                _put_domain(out, filter.type.fields[place], domain)


def _get_filter(reader: _Reader, type: EventType) -> Filter:
    conjunctions: list[Conjunction] = []
    for _ in range(reader.number(MAX_CONJUNCTIONS)):
        constraints: list[tuple[int, Domain]] = []
        for _ in range(reader.number(len(type.fields) + MAX_PAIRS)):
            place = reader.number(2 * SPOT)
            if place >= SPOT:
                constraints.append((place, _get_discs(reader, type, place)))
                continue
            if place >= PAIR:
                constraints.append((place, _get_order(reader, type, place)))
                continue
            if place >= len(type.fields):
                raise CodecError(f"the field {place} of a type that has {len(type.fields)}")
            constraints.append((place, _get_domain(reader, type.fields[place])))
        each = conjoin(type, constraints)
        if each is None:
            raise CodecError("a conjunction that nothing satisfies")
        conjunctions.append(each)
    return Filter.of(type, conjunctions)


def _get_discs(reader: _Reader, type: EventType, place: int) -> Discs:
    """Circles that a place is in, and circles that it is outside of."""
    if not places(type, *members(place)):
        raise CodecError("a place on the Earth that the type does not have")
    inside, refused = reader.number(MAX_DISCS), reader.number(MAX_DISCS)
    discs = [disc(*_DISC.unpack(reader.take(_DISC.size))) for _ in range(inside + refused)]
    return Discs.where(discs[:inside], discs[inside:])


def _get_order(reader: _Reader, type: EventType, place: int) -> Ranges:
    """The order of two fields: a bit for each that it may be, and one for missing."""
    first, second = members(place)
    if not first < second < len(type.fields):
        raise CodecError("a pair of fields that the type does not have")
    bits = reader.number(15)
    signs = Ranges(coalesce((n - 1, n - 1) for n in range(3) if bits >> n & 1), bool(bits >> 3))
    equal = bits >> 1 & 1
    compare_fields(
        type.fields[first], "=" if bits & 5 in (0, 5) else "<" if not equal else "<=", type.fields[second]
    )
    return signs


def _put_domain(out: bytearray, field: Field, domain: Domain) -> None:
    if isinstance(domain, Repeats):
        _put(out, len(domain.required))
        for each in (*domain.required, domain.refused):
            _put_filter(out, each)
    elif isinstance(domain, Ranges):
        _put(out, len(domain.spans) << 1 | domain.absent)
        for low, high in domain.spans:
            _put_value(out, field, low)
            _put_value(out, field, high)
    elif isinstance(domain, Areas):
        _put_areas(out, domain)
    elif isinstance(domain, Discs):
        raise AssertionError("circles stand beside fields")
    elif domain.values is not None:
        _put(out, (len(domain.values) << 1 | 1) << 1 | domain.absent)
        for value in domain.values:
            _put_text(out, value)
    else:
        _put(out, (len(domain.like) << 1) << 1 | domain.absent)
        _put(out, len(domain.unlike))
        for glob in domain.like + domain.unlike:
            _put(out, len(glob))
            for piece in glob:
                _put_text(out, piece)


def _get_domain(reader: _Reader, field: Field) -> Domain:
    if isinstance(field.kind, Records):
        return _get_repeats(reader, field.kind.record)
    if isinstance(field.kind, Area):
        return _get_areas(reader, field.kind)
    head = reader.number(MAX_BYTES << 2)
    absent, count = bool(head & 1), head >> 1
    if not isinstance(field.kind, String):
        reader.promise(count * 2)
        spans = tuple((_get_value(reader, field), _get_value(reader, field)) for _ in range(count))
        if spans != coalesce(spans):
            raise CodecError(f"spans of {field.path} that are not in order with gaps between them")
        return Ranges(spans, absent)
    listed, count = bool(count & 1), count >> 1
    reader.promise(count)
    if listed:
        texts = tuple(_get_text(reader) for _ in range(count))
        if any(one >= other for one, other in pairwise(texts)):
            raise CodecError(f"texts of {field.path} that are not in order, each once")
        return Texts(texts, absent=absent)
    refused = reader.number(MAX_BYTES)
    reader.promise(count + refused)
    stars = 0
    globs = []
    for _ in range(count + refused):
        pieces = reader.number(MAX_BYTES)
        reader.promise(pieces)
        stars += pieces > 1
        if stars > MAX_PATTERNS:
            raise CodecError(f"more than {MAX_PATTERNS} patterns")
        globs.append(_get_glob(reader, pieces))
    return Texts.where(globs[:count], globs[count:], absent)


def _get_glob(reader: _Reader, count: int) -> Glob:
    """The pieces of a pattern, perhaps after the mark that their case says nothing."""
    if count > 1 and reader.data[reader.at : reader.at + 2] == _CASELESS:
        reader.take(2)
        pieces = tuple(_get_text(reader) for _ in range(count - 1))
        if any(piece != lower(piece) for piece in pieces):
            raise CodecError("a pattern without case that is not in lower case")
        return (CASELESS, *pieces)
    return tuple(_get_text(reader) for _ in range(count)) or ("",)


def _get_repeats(reader: _Reader, record: EventType) -> Repeats:
    required = [_get_filter(reader, record) for _ in range(reader.number(MAX_REQUIRED))]
    return Repeats.where(required, _get_filter(reader, record))


def _put_areas(out: bytearray, domain: Areas) -> None:
    _put(out, len(domain.required) << 2 | domain.void << 1 | domain.absent)
    if not domain.void:
        _put(out, len(domain.refused))
    for whole, region in domain.required + domain.refused:
        out.append(whole << 1 | isinstance(region, Box))
        out += b"".join(map(_DOUBLE.pack, region))


def _get_areas(reader: _Reader, kind: Area) -> Areas:
    head = reader.number(MAX_TESTS << 2 | 3)
    if head & 2:
        return Areas(kind.shape, absent=bool(head & 1), void=True)
    count, refused = head >> 2, reader.number(MAX_TESTS)
    tests = []
    for _ in range(count + refused):
        mode = reader.number(3)
        numbers = (_DOUBLE.unpack(reader.take(8))[0] for _ in range(4 if mode & 1 else 3))
        tests.append(RegionTest(bool(mode >> 1), box(*numbers) if mode & 1 else disc(*numbers)))
    return Areas.where(kind.shape, tests[:count], tests[count:], bool(head & 1))


def _put_shape(out: bytearray, shape: Shape) -> None:
    """How many corners, and their degrees; none for a circle, which has three numbers."""
    corners = shape.corners if isinstance(shape, Ring) else ()
    _put(out, len(corners))
    for numbers in corners or (shape,):
        out += b"".join(map(_DOUBLE.pack, numbers))


def _get_shape(reader: _Reader) -> Shape:
    count = reader.number(MAX_CORNERS)
    if not count:
        return circle(*_DISC.unpack(reader.take(_DISC.size)))
    numbers = struct.unpack(f">{2 * count}d", reader.take(16 * count))
    return polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _put_value(out: bytearray, field: Field, stored: Any) -> None:
    if isinstance(field.kind, String):
        _put_text(out, stored)
    elif isinstance(field.kind, Area):
        _put_shape(out, stored)
    elif isinstance(field.kind, Decimal):
        out += _DOUBLE.pack(stored)
    else:
        _put(out, stored << 1 if stored >= 0 else ~stored << 1 | 1)


def _get_value(reader: _Reader, field: Field) -> Any:
    if isinstance(field.kind, String):
        return _get_text(reader)
    if isinstance(field.kind, Area):
        return _get_shape(reader)
    if isinstance(field.kind, Decimal):
        stored = _DOUBLE.unpack(reader.take(8))[0] + 0.0  # of two zeros the encoder writes one
    else:
        number = reader.number(1 << 65)
        stored = ~(number >> 1) if number & 1 else number >> 1
    [(low, high)] = field.kind.everything(False).spans  # type: ignore[union-attr]
    if not low <= stored <= high:
        raise CodecError(f"a value that {field.path} cannot have")
    return stored


def _put_text(out: bytearray, text: str) -> None:
    data = text.encode()
    _put(out, len(data))
    out += data


def _get_text(reader: _Reader) -> str:
    data = reader.take(reader.number(MAX_BYTES))
    try:
        return String().store(data.decode())
    except (UnicodeDecodeError, ContentError):
        raise CodecError("text that is not UTF-8 for XML") from None


def _put(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _bounded(out: bytearray) -> bytes:
    if len(out) > MAX_BYTES:
        raise CodecError(f"{len(out)} bytes; {MAX_BYTES} are the most")
    return bytes(out)


class _Reader:
    """Bytes read from the front; whatever goes wrong is a `CodecError`."""

    def __init__(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            raise CodecError(f"{len(data)} bytes; {MAX_BYTES} are the most")
        self.data = bytes(data)
        self.at = 0

    def take(self, count: int) -> bytes:
        self.promise(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def promise(self, count: int) -> None:
        """Refuse early what claims more than is there."""
        if count > len(self.data) - self.at:
            raise CodecError("it ends too early")

    def number(self, most: int) -> int:
        """A whole number in seven-bit groups, low first."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 70:
                raise CodecError("a number without end")
        if value > most:
            raise CodecError(f"{value} where {most} is the most")
        return value

    def close(self) -> None:
        if self.at != len(self.data):
            raise CodecError(f"{len(self.data) - self.at} bytes too many")
