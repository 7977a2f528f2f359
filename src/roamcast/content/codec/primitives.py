"""Primitives of the binary encodings: numbers, texts and type fingerprints, with checks on decoding."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from roamcast.content.errors import CodecError, ContentError, UnknownType
from roamcast.content.field_type import String
from roamcast.content.schema import EventType

MAX_BYTES = 1 << 16
"Maximum size of an encoded event or filter [B], checked on encoding and decoding."

DOUBLE = struct.Struct(">d")
DISC = struct.Struct(">3d")


def find_type(reader: Reader, types: EventType | Mapping[str, EventType]) -> EventType:
    """Return the type whose fingerprint comes next."""
    fingerprint = reader.take(8)
    for type in [types] if isinstance(types, EventType) else types.values():
        if type.fingerprint == fingerprint:
            return type
    raise UnknownType(fingerprint)


def put_number(out: bytearray, number: int) -> None:
    """Append a non-negative integer in seven-bit groups, lowest first."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def put_text(out: bytearray, text: str) -> None:
    """Append the length of a text and the text in UTF-8."""
    data = text.encode()
    put_number(out, len(data))
    out += data


def get_text(reader: Reader) -> str:
    """Decode a text."""
    data = reader.take(reader.number(MAX_BYTES))
    try:
        return String().store(data.decode())
    except (UnicodeDecodeError, ContentError):
        raise CodecError("a text is not valid UTF-8 or has characters that XML does not allow") from None


def bounded(out: bytearray) -> bytes:
    """Return the encoded bytes; raise `CodecError` if they are too long."""
    if len(out) > MAX_BYTES:
        raise CodecError(f"{len(out)} bytes; the maximum is {MAX_BYTES}")
    return bytes(out)


class Reader:
    """A sequential decoder of bytes; every error is a `CodecError`."""

    def __init__(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            raise CodecError(f"{len(data)} bytes; the maximum is {MAX_BYTES}")
        self.data = bytes(data)
        self.at = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        self.check_remaining(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def check_remaining(self, count: int) -> None:
        """Raise `CodecError` if fewer than `count` bytes remain."""
        if count > len(self.data) - self.at:
            raise CodecError("the data end too early")

    def number(self, most: int) -> int:
        """Decode an integer of at most `most` in seven-bit groups, lowest first."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 70:
                raise CodecError("a number has too many bytes")
        if value > most:
            raise CodecError(f"the number {value} exceeds the maximum {most}")
        return value

    def close(self) -> None:
        """Raise `CodecError` if bytes remain."""
        if self.at != len(self.data):
            raise CodecError(f"{len(self.data) - self.at} bytes follow the end of the data")
