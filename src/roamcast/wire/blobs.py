"""Values that have a length of their own: filters, and bytes that mean something elsewhere."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import FieldCodec, GenerationContext

# The same few filters are told again at every renewal, and measured with every message that tells them.
_encode = lru_cache(maxsize=4096)(Filter.to_bytes)


@lru_cache(maxsize=4096)
def filter_size(pattern: Filter) -> int:
    """Bytes of a filter in a message."""
    return 2 + len(_encode(pattern))


class FilterField(FieldCodec):
    """A filter, with its length before it."""

    length = staticmethod(filter_size)

    def write(self, out: bytearray, value: Any) -> None:
        """As `Filter.to_bytes` has it."""
        if not isinstance(value, Filter):
            raise WireError(f"{value!r} is not a filter")
        try:
            data = _encode(value)
        except ContentError as error:
            raise WireError(str(error)) from None
        if len(data) > 0xFFFF:
            raise WireError(f"a filter of {len(data)} bytes; 65535 are the most")
        out += len(data).to_bytes(2, "big")
        out += data

    def read(self, octets: ByteReader) -> Filter:
        """A filter over one of the event types known here."""
        data = octets.take(octets.integer(2))
        try:
            return Filter.from_bytes(data, octets.types)
        except ContentError as error:
            raise WireError(str(error)) from None

    def generate(self, about: GenerationContext) -> Filter:
        """One of the filters that are about."""
        return about.random.choice(about.patterns)

    def describe(self) -> str:
        """A filter."""
        return "2 B and the filter's own"


class Blob(FieldCodec):
    """Bytes that mean something elsewhere (a summary), no more than `most`, with their length before them."""

    def __init__(self, most: int) -> None:
        self.most = most

    def length(self, value: Any) -> int:
        """Two bytes and its own."""
        return 2 + len(value)

    def write(self, out: bytearray, value: Any) -> None:
        """As they are."""
        if not isinstance(value, bytes) or len(value) > self.most:
            raise WireError(f"not up to {self.most} bytes")
        out += len(value).to_bytes(2, "big")
        out += value

    def read(self, octets: ByteReader) -> bytes:
        """As they are."""
        count = octets.integer(2)
        if count > self.most:
            raise WireError(f"{count} bytes where {self.most} are the most")
        return octets.take(count)

    def generate(self, about: GenerationContext) -> bytes:
        """Noise."""
        return about.random.randbytes(about.integer(0, min(self.most, 64)))

    def describe(self) -> str:
        """Bytes."""
        return f"2 B and up to {self.most} B"
