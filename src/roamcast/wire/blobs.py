"""Field codecs of variable length: filters and opaque bytes."""

from __future__ import annotations

from typing import Any

from roamcast.content.errors import ContentError, UnknownType
from roamcast.content.filter import Filter
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.encodings import Encodings
from roamcast.wire.errors import UnknownEventType, WireError
from roamcast.wire.field import FieldCodec, GenerationContext

# The same few filters are sent again at every renewal, and their size is needed for every message.
encoded_filter: Encodings[Filter] = Encodings(Filter.to_bytes)


def filter_size(pattern: Filter) -> int:
    """Return the size of a filter in a message [B]."""
    return 2 + len(encoded_filter(pattern))


class FilterField(FieldCodec):
    """A filter, preceded by its length."""

    def length(self, value: Any) -> int:
        """Return the size of the length and the filter [B]."""
        return filter_size(value)

    def write(self, out: bytearray, value: Any) -> None:
        """Append the length and the encoding of the filter."""
        if not isinstance(value, Filter):
            raise WireError(f"{value!r} is not a filter")
        try:
            data = encoded_filter(value)
        except ContentError as error:
            raise WireError(str(error)) from None
        if len(data) > 0xFFFF:
            raise WireError(f"a filter of {len(data)} bytes; the maximum is 65535")
        out += len(data).to_bytes(2, "big")
        out += data

    def read(self, octets: ByteReader) -> Filter:
        """Decode a filter over one of the known event types."""
        data = octets.take(octets.integer(2))
        try:
            return Filter.from_bytes(data, octets.types)
        except UnknownType as error:
            raise UnknownEventType(error.fingerprint) from None
        except ContentError as error:
            raise WireError(str(error)) from None

    def generate(self, about: GenerationContext) -> Filter:
        """Return one of the filters of the context."""
        return about.random.choice(about.patterns)

    def describe(self) -> str:
        """Return the size in words."""
        return "2 B and the filter's own"


class Blob(FieldCodec):
    """Opaque bytes (such as a summary), at most `most`, preceded by their length."""

    def __init__(self, most: int) -> None:
        self.most = most

    def length(self, value: Any) -> int:
        """Return the size: two bytes and the data."""
        return 2 + len(value)

    def formula(self, value: str) -> str:
        """Return an expression for the size."""
        return f"2 + len({value})"

    def write(self, out: bytearray, value: Any) -> None:
        """Append the length and the bytes."""
        if not isinstance(value, bytes) or len(value) > self.most:
            raise WireError(f"expected at most {self.most} bytes")
        out += len(value).to_bytes(2, "big")
        out += value

    def read(self, octets: ByteReader) -> bytes:
        """Decode the bytes; raise `WireError` if there are too many."""
        count = octets.integer(2)
        if count > self.most:
            raise WireError(f"{count} bytes; the maximum is {self.most}")
        return octets.take(count)

    def generate(self, about: GenerationContext) -> bytes:
        """Return random bytes."""
        return about.random.randbytes(about.integer(0, min(self.most, 64)))

    def describe(self) -> str:
        """Return the size in words."""
        return f"2 B and up to {self.most} B"
