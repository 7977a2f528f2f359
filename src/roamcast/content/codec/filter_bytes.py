"""The binary encoding of filters: conjunctions of sets of values per field."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import MAX_TESTS, AreaSet, RegionTest
from roamcast.content.box.conjunction import MAX_PATTERNS, Conjunction, conjoin
from roamcast.content.box.constraint import disc, is_location
from roamcast.content.box.field_order import MAX_PAIRS, PAIR, compare_fields, members
from roamcast.content.box.glob import CASELESS, Glob, lower
from roamcast.content.box.point_set import MAX_DISCS, SPOT, PointSet
from roamcast.content.box.range_set import RangeSet, coalesce
from roamcast.content.box.record_list_set import MAX_REQUIRED, RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.codec.event_bytes import get_value, put_value
from roamcast.content.codec.primitives import (
    DISC,
    DOUBLE,
    MAX_BYTES,
    Reader,
    bounded,
    find_type,
    get_text,
    put_number,
    put_text,
)
from roamcast.content.earth.shapes import LatLonBox, box
from roamcast.content.errors import CodecError
from roamcast.content.field_type import Domain, String
from roamcast.content.filter import MAX_CONJUNCTIONS, Filter
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field

_CASELESS = bytes([1, *CASELESS.encode()])


def encode_filter(filter: Filter) -> bytes:
    """Return the encoding of `filter`."""
    out = bytearray(filter.type.fingerprint)
    _put_filter(out, filter)
    return bounded(out)


def decode_filter(data: bytes, types: EventType | Mapping[str, EventType]) -> Filter:
    """Decode the output of `encode_filter`; raise `CodecError` for other bytes."""
    reader = Reader(data)
    type = find_type(reader, types)
    filter = _get_filter(reader, type)
    reader.close()
    if encode_filter(filter) != data:
        raise CodecError("the filter is not in canonical form")
    return filter


def _put_filter(out: bytearray, filter: Filter) -> None:
    put_number(out, len(filter.conjunctions))
    for each in filter.conjunctions:
        put_number(out, len(each))
        for place, domain in each:
            put_number(out, place)
            if isinstance(domain, PointSet):
                put_number(out, len(domain.inside))
                put_number(out, len(domain.outside_of))
                for disc in domain.inside + domain.outside_of:
                    out += DISC.pack(*disc)
            elif place >= PAIR:
                out.append(sum(1 << n for n, value in enumerate((-1, 0, 1, None)) if domain.has(value)))
            else:
                _put_domain(out, filter.type.fields[place], domain)


def _get_filter(reader: Reader, type: EventType) -> Filter:
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
                raise CodecError(f"field index {place} in a type with {len(type.fields)} fields")
            constraints.append((place, _get_domain(reader, type.fields[place])))
        each = conjoin(type, constraints)
        if each is None:
            raise CodecError("a conjunction is not satisfiable")
        conjunctions.append(each)
    return Filter.of(type, conjunctions)


def _get_discs(reader: Reader, type: EventType, place: int) -> PointSet:
    """Decode the circles that a position must lie inside and outside of."""
    if not is_location(type, *members(place)):
        raise CodecError("the type has no such position")
    inside, refused = reader.number(MAX_DISCS), reader.number(MAX_DISCS)
    discs = [disc(*DISC.unpack(reader.take(DISC.size))) for _ in range(inside + refused)]
    return PointSet.where(discs[:inside], discs[inside:])


def _get_order(reader: Reader, type: EventType, place: int) -> RangeSet:
    """Decode the allowed orders of two fields: a bit for each order and one for a missing value."""
    first, second = members(place)
    if not first < second < len(type.fields):
        raise CodecError("the type has no such pair of fields")
    bits = reader.number(15)
    signs = RangeSet(coalesce((n - 1, n - 1) for n in range(3) if bits >> n & 1), bool(bits >> 3))
    equal = bits >> 1 & 1
    compare_fields(
        type.fields[first], "=" if bits & 5 in (0, 5) else "<" if not equal else "<=", type.fields[second]
    )
    return signs


def _put_domain(out: bytearray, field: Field, domain: Domain) -> None:
    if isinstance(domain, RecordListSet):
        put_number(out, len(domain.required))
        for each in (*domain.required, domain.refused):
            _put_filter(out, each)
    elif isinstance(domain, RangeSet):
        put_number(out, len(domain.spans) << 1 | domain.absent)
        for low, high in domain.spans:
            put_value(out, field, low)
            put_value(out, field, high)
    elif isinstance(domain, AreaSet):
        _put_areas(out, domain)
    elif isinstance(domain, PointSet):
        raise AssertionError("a circle constrains a position, not a field")
    elif domain.values is not None:
        put_number(out, (len(domain.values) << 1 | 1) << 1 | domain.absent)
        for value in domain.values:
            put_text(out, value)
    else:
        put_number(out, (len(domain.like) << 1) << 1 | domain.absent)
        put_number(out, len(domain.unlike))
        for glob in domain.like + domain.unlike:
            put_number(out, len(glob))
            for piece in glob:
                put_text(out, piece)


def _get_domain(reader: Reader, field: Field) -> Domain:
    if isinstance(field.kind, RecordList):
        return _get_repeats(reader, field.kind.record)
    if isinstance(field.kind, AreaType):
        return _get_areas(reader, field.kind)
    head = reader.number(MAX_BYTES << 2)
    absent, count = bool(head & 1), head >> 1
    if not isinstance(field.kind, String):
        reader.check_remaining(count * 2)
        spans = tuple((get_value(reader, field), get_value(reader, field)) for _ in range(count))
        if spans != coalesce(spans):
            raise CodecError(f"the ranges of {field.path} are not sorted and disjoint")
        return RangeSet(spans, absent)
    listed, count = bool(count & 1), count >> 1
    reader.check_remaining(count)
    if listed:
        texts = tuple(get_text(reader) for _ in range(count))
        if any(one >= other for one, other in pairwise(texts)):
            raise CodecError(f"the texts of {field.path} are not sorted and distinct")
        return StringSet(texts, absent=absent)
    refused = reader.number(MAX_BYTES)
    reader.check_remaining(count + refused)
    stars = 0
    globs = []
    for _ in range(count + refused):
        pieces = reader.number(MAX_BYTES)
        reader.check_remaining(pieces)
        stars += pieces > 1
        if stars > MAX_PATTERNS:
            raise CodecError(f"more than {MAX_PATTERNS} patterns in one constraint")
        globs.append(_get_glob(reader, pieces))
    return StringSet.where(globs[:count], globs[count:], absent)


def _get_glob(reader: Reader, count: int) -> Glob:
    """Decode the pieces of a pattern, which may begin with the mark of a case-insensitive pattern."""
    if count > 1 and reader.data[reader.at : reader.at + 2] == _CASELESS:
        reader.take(2)
        pieces = tuple(get_text(reader) for _ in range(count - 1))
        if any(piece != lower(piece) for piece in pieces):
            raise CodecError("a case-insensitive pattern is not in lower case")
        return (CASELESS, *pieces)
    return tuple(get_text(reader) for _ in range(count)) or ("",)


def _get_repeats(reader: Reader, record: EventType) -> RecordListSet:
    required = [_get_filter(reader, record) for _ in range(reader.number(MAX_REQUIRED))]
    return RecordListSet.where(required, _get_filter(reader, record))


def _put_areas(out: bytearray, domain: AreaSet) -> None:
    put_number(out, len(domain.required) << 2 | domain.void << 1 | domain.absent)
    if not domain.void:
        put_number(out, len(domain.refused))
    for whole, region in domain.required + domain.refused:
        out.append(whole << 1 | isinstance(region, LatLonBox))
        out += b"".join(map(DOUBLE.pack, region))


def _get_areas(reader: Reader, kind: AreaType) -> AreaSet:
    head = reader.number(MAX_TESTS << 2 | 3)
    if head & 2:
        return AreaSet(kind.shape, absent=bool(head & 1), void=True)
    count, refused = head >> 2, reader.number(MAX_TESTS)
    tests = []
    for _ in range(count + refused):
        mode = reader.number(3)
        numbers = (DOUBLE.unpack(reader.take(8))[0] for _ in range(4 if mode & 1 else 3))
        tests.append(RegionTest(bool(mode >> 1), box(*numbers) if mode & 1 else disc(*numbers)))
    return AreaSet.where(kind.shape, tests[:count], tests[count:], bool(head & 1))
