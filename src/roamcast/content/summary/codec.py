"""The binary encoding of summaries: bounded, canonical, and decodable without the schema."""

from __future__ import annotations

import math
import struct

from roamcast.content.box.range_set import Span, coalesce
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.parts import MAX_SPANS, EnumerationPart, NumericPart, Part, StringPart
from roamcast.content.summary.summary import MAX_BYTES, MAX_ROWS, Row, Summary

_KINDS = "teid"
_MAX_TYPES = 1024
_MAX_FIELDS = 4096


def encode(summary: Summary) -> bytes:
    """Return the encoding of the summary, with types in the order of their fingerprints."""
    out = bytearray(struct.pack(">HBH", summary.shape.bits - 1, summary.shape.hashes, len(summary.rows)))
    for name in sorted(summary.rows):
        kinds = summary.kinds[name]
        out += name + struct.pack(">HB", len(kinds), len(summary.rows[name]))
        packed = sum(_KINDS.index(kind) << 2 * n for n, kind in enumerate(kinds))
        out += packed.to_bytes((len(kinds) + 3) // 4, "little")
        for row in summary.rows[name]:
            out += struct.pack(">H", len(row))
            for place, part in row.items():
                roles = part.roles if isinstance(part, StringPart) else 0
                out += struct.pack(">HB", place, part.absent | roles << 1)
                _put_part(out, part, kinds[place])
    return bytes(out)


def length(summary: Summary) -> int:
    """Return the length of the encoding [B] without producing it."""
    found = 5
    for name, rows in summary.rows.items():
        found += 8 + 3 + (len(summary.kinds[name]) + 3) // 4
        found += sum(map(row_length, rows))
    return found


def row_length(row: Row) -> int:
    """Return the length of an encoded row [B]."""
    return 2 + sum(3 + _part_length(part) for part in row.values())


def _part_length(part: Part) -> int:
    if isinstance(part, EnumerationPart):
        return 2 + (part.bits.bit_length() + 7) // 8
    if isinstance(part, NumericPart):
        return 1 + 16 * len(part.spans)
    whole = (part.shape.bits + 7) // 8
    counts = (bits.bit_count() for bits in (part.left, part.right, part.words))
    return sum(3 + 2 * count if 2 * count < whole else 1 + whole for count in counts)


def decode(data: bytes) -> Summary:
    """Decode the output of `encode`; raise `CodecError` for other bytes."""
    if len(data) > MAX_BYTES:
        raise CodecError(f"the summary has {len(data)} bytes; the maximum is {MAX_BYTES}")
    reader = _Reader(bytes(data))
    bits, hashes, types = reader.unpack("HBH")
    try:
        shape = BloomShape(bits + 1, hashes)
    except ContentError as error:
        raise CodecError(str(error)) from None
    if types > _MAX_TYPES:
        raise CodecError(f"the summary has {types} event types; the maximum is {_MAX_TYPES}")
    all_rows: dict[bytes, tuple[Row, ...]] = {}
    all_kinds: dict[bytes, str] = {}
    for _ in range(types):
        name = reader.take(8)
        width, count = reader.unpack("HB")
        if width > _MAX_FIELDS or not 1 <= count <= MAX_ROWS:
            raise CodecError(f"{width} fields and {count} rows; the maximum is {_MAX_FIELDS} and {MAX_ROWS}")
        packed = int.from_bytes(reader.take((width + 3) // 4), "little")
        kinds = "".join(_KINDS[packed >> 2 * n & 3] for n in range(width))
        all_kinds[name] = kinds
        all_rows[name] = tuple(_get_row(reader, kinds, shape) for _ in range(count))
    summary = Summary(shape, all_rows, all_kinds)
    if encode(summary) != data:
        raise CodecError("the summary is not in canonical form")
    return summary


def _get_row(reader: _Reader, kinds: str, shape: BloomShape) -> Row:
    row: Row = {}
    [fields] = reader.unpack("H")
    for _ in range(fields):
        place, flags = reader.unpack("HB")
        if place >= len(kinds) or place <= max(row, default=-1):
            raise CodecError("the fields of a row are not sorted")
        if flags > (15 if kinds[place] == "t" else 1):
            raise CodecError("a field has unknown flags")
        row[place] = _get_part(reader, kinds[place], flags, shape)
    return row


def _put_part(out: bytearray, part: Part, kind: str) -> None:
    if isinstance(part, EnumerationPart):
        size = (part.bits.bit_length() + 7) // 8
        out += struct.pack(">H", size) + part.bits.to_bytes(size, "big")
    elif isinstance(part, NumericPart):
        out.append(len(part.spans))
        for low, high in part.spans:
            out += struct.pack(">dd" if kind == "d" else ">qq", low, high)
    else:
        for bits in (part.left, part.right, part.words):
            _put_bits(out, bits, part.shape.bits)


def _get_part(reader: _Reader, kind: str, flags: int, shape: BloomShape) -> Part:
    absent = bool(flags & 1)
    if kind == "e":
        [size] = reader.unpack("H")
        return EnumerationPart(int.from_bytes(reader.take(size), "big"), absent)
    if kind == "t":
        left, right, words = (_get_bits(reader, shape.bits) for _ in range(3))
        if bool(words) != bool(flags >> 1):
            raise CodecError("the flags of a string field do not agree with its words")
        return StringPart(shape, left, right, words, absent, flags >> 1)
    [count] = reader.unpack("B")
    if count > MAX_SPANS:
        raise CodecError(f"{count} sub-ranges; the maximum is {MAX_SPANS}")
    spans: list[Span] = [tuple(reader.unpack("dd" if kind == "d" else "qq")) for _ in range(count)]  # type: ignore[misc]
    if any(math.isnan(low) or math.isnan(high) for low, high in spans) or coalesce(spans) != tuple(spans):
        raise CodecError("sub-ranges are not sorted and disjoint")
    return NumericPart(tuple(spans), absent)


def _put_bits(out: bytearray, bits: int, size: int) -> None:
    """Append the bits as a list of positions or as a bitmap, whichever is shorter."""
    if bits.bit_count() * 2 < (size + 7) // 8:
        places = _places(bits)
        out += struct.pack(f">BH{len(places)}H", 0, len(places), *places)
    else:
        out += b"\x01" + bits.to_bytes((size + 7) // 8, "big")


def _places(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def _get_bits(reader: _Reader, size: int) -> int:
    [dense] = reader.unpack("B")
    if dense > 1:
        raise CodecError("unknown encoding of bits")
    if dense:
        bits = int.from_bytes(reader.take((size + 7) // 8), "big")
        if bits >> size:
            raise CodecError("a bit lies outside the Bloom filter")
        return bits
    [count] = reader.unpack("H")
    bits = 0
    for place in reader.unpack(f"{count}H"):
        if place >= size:
            raise CodecError("a bit lies outside the Bloom filter")
        bits |= 1 << place
    return bits


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise CodecError("the summary ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(f">{layout}", self.take(struct.calcsize(f">{layout}")))
