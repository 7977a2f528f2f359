"""Digests: what of an event a summary is asked about; small, bounded, and readable without the schema."""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

import msgspec

from roamcast.content.errors import CodecError
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, FieldType, String
from roamcast.content.summary.bloom import BloomShape, stable_hash

AFFIX = 16
"Letters of a prefix or suffix that are looked at; longer ones are cut, which can only add a wrong yes."
MAX_BYTES = 1 << 16

_WHOLE, _PREFIX, _SUFFIX = "=", "<", ">"


class StringDigest(msgspec.Struct, frozen=True):
    """A string as the hashes of its beginnings, its endings and itself."""

    prefixes: tuple[int, ...]
    suffixes: tuple[int, ...]
    whole: int

    @classmethod
    def of(cls, text: str) -> StringDigest:
        """The digest of a string."""
        return cls(
            tuple(hash_prefix(text[:length]) for length in range(min(len(text), AFFIX) + 1)),
            tuple(hash_suffix(text[len(text) - length :]) for length in range(min(len(text), AFFIX) + 1)),
            hash_whole(text),
        )

    def masks(self, shape: BloomShape) -> tuple[list[int], list[int], list[int]]:
        """The bits of its beginnings, of its endings, and of itself."""
        left = [shape.mask(hashed) for hashed in self.prefixes]
        right = [shape.mask(hashed) for hashed in self.suffixes]
        return left, right, [shape.mask(self.whole)]


def hash_whole(text: str) -> int:
    """Of a whole string."""
    return stable_hash(_WHOLE, text)


def hash_prefix(text: str) -> int:
    """Of a beginning."""
    return stable_hash(_PREFIX, text[:AFFIX])


def hash_suffix(text: str) -> int:
    """Of an ending."""
    return stable_hash(_SUFFIX, text[max(0, len(text) - AFFIX) :])


DigestValue: TypeAlias = int | float | StringDigest | None


class EventDigest(msgspec.Struct, frozen=True):
    """An event, as far as summaries care: its type's fingerprint and a value for each field."""

    type: bytes
    values: tuple[DigestValue, ...]

    @classmethod
    def of(cls, event: Event) -> EventDigest:
        """The digest of an event."""
        plain = [None if isinstance(v, tuple) else v for v in event.values]  # records are not told
        values = [StringDigest.of(v) if isinstance(v, str) else v for v in plain]
        return cls(event.type.fingerprint, tuple(values))

    def to_bytes(self) -> bytes:
        """The digest in bytes."""
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
            raise CodecError(f"a digest of {len(out)} bytes; {MAX_BYTES} are the most")
        return bytes(out)

    @classmethod
    def from_bytes(cls, data: bytes) -> EventDigest:
        """Read what `to_bytes` wrote, and refuse anything else."""
        try:
            digest = cls._read(data)
        except (struct.error, IndexError, ValueError):
            raise CodecError("a digest that ends too early") from None
        if digest.to_bytes() != data:
            raise CodecError("a digest that its encoder would have written otherwise")
        return digest

    @classmethod
    def _read(cls, data: bytes) -> EventDigest:
        if len(data) > MAX_BYTES or len(data) < 10:
            raise CodecError(f"a digest of {len(data)} bytes")
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
                    raise CodecError("a digest of an impossible string")
                hashes = struct.unpack_from(f">{2 * count + 1}I", data, at + 1)
                values.append(StringDigest(hashes[:count], hashes[count:-1], hashes[-1]))
                at += 1 + 4 * (2 * count + 1)
            else:
                raise CodecError("a digest with a value of no known kind")
        return cls(data[:8], tuple(values))


def letter(kind: FieldType) -> str:
    """How a summary calls a kind: t (SC), e (EC), d or i (AC)."""
    if isinstance(kind, String):
        return "t"
    if kind.name == "enumeration":
        return "e"
    return "d" if isinstance(kind, Decimal) else "i"


def has(value: DigestValue, kind: str) -> bool:
    """Whether a digest's value is one that a field of this kind can have."""
    expected: dict[str, Any] = {"t": StringDigest, "e": int, "i": int, "d": float}
    return value is None or type(value) is expected[kind]
