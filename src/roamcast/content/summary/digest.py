"""Digests: the part of an event that a summary tests; bounded, and decodable without the schema."""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

import msgspec

from roamcast.content.errors import CodecError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, FieldType, String
from roamcast.content.summary.bloom import BloomShape, stable_hash

AFFIX = 16
"Maximum length of hashed prefixes and suffixes; truncating longer ones can only add false positives."
MAX_BYTES = 1 << 16

_WHOLE, _PREFIX, _SUFFIX = "=", "<", ">"


class StringDigest(msgspec.Struct, frozen=True):
    """A string as the hashes of its prefixes, its suffixes and itself."""

    prefixes: tuple[int, ...]
    suffixes: tuple[int, ...]
    whole: int

    @classmethod
    def of(cls, text: str) -> StringDigest:
        """Return the digest of a string."""
        return cls(
            tuple(hash_prefix(text[:length]) for length in range(min(len(text), AFFIX) + 1)),
            tuple(hash_suffix(text[len(text) - length :]) for length in range(min(len(text), AFFIX) + 1)),
            hash_whole(text),
        )

    def masks(self, shape: BloomShape) -> tuple[list[int], list[int], list[int]]:
        """Return the Bloom filter bits of the prefixes, of the suffixes and of the whole string."""
        left = [shape.mask(hashed) for hashed in self.prefixes]
        right = [shape.mask(hashed) for hashed in self.suffixes]
        return left, right, [shape.mask(self.whole)]


def hash_whole(text: str) -> int:
    """Return the hash of a whole string."""
    return stable_hash(_WHOLE, text)


def hash_prefix(text: str) -> int:
    """Return the hash of a prefix."""
    return stable_hash(_PREFIX, text[:AFFIX])


def hash_suffix(text: str) -> int:
    """Return the hash of a suffix."""
    return stable_hash(_SUFFIX, text[max(0, len(text) - AFFIX) :])


DigestValue: TypeAlias = int | float | StringDigest | None


class EventDigest(msgspec.Struct, frozen=True):
    """The part of an event that summaries use: its type's fingerprint and a value per field."""

    type: bytes
    values: tuple[DigestValue, ...]

    @classmethod
    def of(cls, event: Event) -> EventDigest:
        """Return the digest of an event."""
        plain = [None if isinstance(v, tuple) else v for v in event.values]  # records and areas are left out
        values = [StringDigest.of(v) if isinstance(v, str) else v for v in plain]
        return cls(event.type.fingerprint, tuple(values))

    def to_bytes(self) -> bytes:
        """Return the encoding of the digest."""
        out = bytearray(self.type)
        out += len(self.values).to_bytes(2, "big")
        for value in self.values:
            if value is None:
                out += b"-"
            elif isinstance(value, float):
                out += b"d" + struct.pack(">d", value)
            elif isinstance(value, int):
                out += b"i" + struct.pack(">q", value)
            else:
                out += b"t" + bytes([len(value.prefixes)])
                for hashed in (*value.prefixes, *value.suffixes, value.whole):
                    out += hashed.to_bytes(4, "big")
        if len(out) > MAX_BYTES:
            raise CodecError(f"the digest has {len(out)} bytes; the maximum is {MAX_BYTES}")
        return bytes(out)

    @classmethod
    def from_bytes(cls, data: bytes) -> EventDigest:
        """Decode the output of `to_bytes`; raise `CodecError` for other bytes."""
        try:
            digest = cls._read(data)
        except (struct.error, IndexError, ValueError):
            raise CodecError("the digest ends too early") from None
        if digest.to_bytes() != data:
            raise CodecError("the digest is not in canonical form")
        return digest

    @classmethod
    def _read(cls, data: bytes) -> EventDigest:
        if len(data) > MAX_BYTES or len(data) < 10:
            raise CodecError(f"the digest has {len(data)} bytes; expected 10 to {MAX_BYTES}")
        at = 10
        values: list[DigestValue] = []
        for _ in range(int.from_bytes(data[8:10], "big")):
            tag = data[at : at + 1]
            at += 1
            if tag == b"-":
                values.append(None)
            elif tag in (b"d", b"i"):
                [number] = struct.unpack_from(">" + ("d" if tag == b"d" else "q"), data, at)
                values.append(number)
                at += 8
            elif tag == b"t":
                count = data[at]
                if not 1 <= count <= AFFIX + 1:
                    raise CodecError(f"a string digest has {count} prefixes; expected 1 to {AFFIX + 1}")
                hashes = struct.unpack_from(f">{2 * count + 1}I", data, at + 1)
                values.append(StringDigest(hashes[:count], hashes[count:-1], hashes[-1]))
                at += 1 + 4 * (2 * count + 1)
            else:
                raise CodecError("the digest has a value of unknown type")
        return cls(data[:8], tuple(values))


def letter(kind: FieldType) -> str:
    """Return the summary's letter of a field type: t (SC), e (EC), d or i (AC)."""
    if isinstance(kind, String):
        return "t"
    if kind.name == "enumeration":
        return "e"
    return "d" if isinstance(kind, Decimal) else "i"


def has(value: DigestValue, kind: str) -> bool:
    """Return whether a digest's value is possible for a field of this type letter."""
    expected: dict[str, Any] = {"t": StringDigest, "e": int, "i": int, "d": float}
    return value is None or type(value) is expected[kind]
