"""What everything is written with: numbers, texts and types, as few bytes, and read with suspicion."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from roamcast.content.errors import CodecError, ContentError
from roamcast.content.field_type import String
from roamcast.content.schema import EventType

MAX_BYTES = 1 << 16
"An event or filter that needs more is refused on both sides."

DOUBLE = struct.Struct(">d")
DISC = struct.Struct(">3d")


def find_type(reader: Reader, types: EventType | Mapping[str, EventType]) -> EventType:
    """The type whose fingerprint comes next."""
    fingerprint = reader.take(8)
    for type in [types] if isinstance(types, EventType) else types.values():
        if type.fingerprint == fingerprint:
            return type
    raise CodecError(f"an event type that is not known here (fingerprint {fingerprint.hex()})")


def put_number(out: bytearray, number: int) -> None:
    """Write a whole number in seven-bit groups, low first."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def put_text(out: bytearray, text: str) -> None:
    """Write a text, its length first."""
    data = text.encode()
    put_number(out, len(data))
    out += data


def get_text(reader: Reader) -> str:
    """Read a text."""
    data = reader.take(reader.number(MAX_BYTES))
    try:
        return String().store(data.decode())
    except (UnicodeDecodeError, ContentError):
        raise CodecError("text that is not UTF-8 for XML") from None


def bounded(out: bytearray) -> bytes:
    """What was written, if it is not too long."""
    if len(out) > MAX_BYTES:
        raise CodecError(f"{len(out)} bytes; {MAX_BYTES} are the most")
    return bytes(out)


class Reader:
    """Bytes read from the front; whatever goes wrong is a `CodecError`."""

    def __init__(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            raise CodecError(f"{len(data)} bytes; {MAX_BYTES} are the most")
        self.data = bytes(data)
        self.at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        self.check_remaining(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def check_remaining(self, count: int) -> None:
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
        """Refuse what is left over."""
        if self.at != len(self.data):
            raise CodecError(f"{len(self.data) - self.at} bytes too many")
