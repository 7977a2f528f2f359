"""Field codecs of integers, node ids, publication ids, floating-point numbers and flags."""

from __future__ import annotations

import math
import struct
from typing import Any

from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext, NodeId


class Int(FieldCodec):
    """An integer of a few bytes between two bounds; negative numbers are in two's complement."""

    def __init__(self, bytes: int, *, least: int = 0, most: int | None = None) -> None:
        self.fixed = bytes
        self.signed = least < 0
        highest = (1 << 8 * bytes - self.signed) - 1
        self.least = least
        self.most = highest if most is None else most
        if self.most > highest or least < -highest - 1 or least > self.most:
            raise ValueError(f"{least} to {self.most} do not fit into {bytes} bytes")

    def length(self, value: Any) -> int:
        """Return the fixed size [B]."""
        return self.fixed or 0

    def write(self, out: bytearray, value: Any) -> None:
        """Append the integer, big-endian."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise WireError(f"{value!r} is not an integer from {self.least} to {self.most}")
        out += value.to_bytes(self.fixed or 0, "big", signed=self.signed)

    def read(self, octets: ByteReader) -> int:
        """Decode the integer, big-endian; raise `WireError` if it is out of bounds."""
        value = int.from_bytes(octets.take(self.fixed or 0), "big", signed=self.signed)
        if not self.least <= value <= self.most:
            raise WireError(f"{value} is not between {self.least} and {self.most}")
        return value

    def generate(self, about: GenerationContext) -> int:
        """Return an integer in the bounds; bounds are more likely."""
        return about.integer(self.least, self.most)

    def describe(self) -> str:
        """Return the size and the bounds in words."""
        return f"{self.fixed} B, {self.least} to {self.most}"


class NodeField(Int):
    """The id of a node."""

    def __init__(self) -> None:
        super().__init__(4, most=HIGHEST_NODE)

    def generate(self, about: GenerationContext) -> NodeId:
        """Return a node id, mostly of an existing node."""
        return about.random.choice(about.nodes) if about.random.random() < 0.8 else super().generate(about)

    def describe(self) -> str:
        """Return the size in words."""
        return "4 B, a node"


class PublicationRef(Int):
    """The id of the publication that the message serves."""

    def __init__(self) -> None:
        super().__init__(8, most=2**63 - 1)

    def generate(self, about: GenerationContext) -> int:
        """Return a publication id, mostly of an existing publication."""
        if about.publications and about.random.random() < 0.7:
            return int(about.random.choice(about.publications).id)
        return super().generate(about)

    def describe(self) -> str:
        """Return the size in words."""
        return "8 B, the id of a publication"


class Float(FieldCodec):
    """A finite number of four or eight bytes; NaN if `unknown` is allowed."""

    def __init__(
        self, bytes: int = 8, *, least: float = -math.inf, most: float = math.inf, unknown: bool = False
    ) -> None:
        self.fixed = bytes
        self._code = struct.Struct({4: ">f", 8: ">d"}[bytes])
        self.least = least
        self.most = most
        self.unknown = unknown

    def fits(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        if math.isnan(value):
            return self.unknown
        return math.isfinite(value) and self.least <= value <= self.most

    def length(self, value: Any) -> int:
        """Return the fixed size [B]."""
        return self.fixed or 0

    def write(self, out: bytearray, value: Any) -> None:
        """Append the number in IEEE 754; NaN has one encoding."""
        if type(value) is not float or not self.fits(value):
            raise WireError(f"{value!r} is not a number from {self.least:g} to {self.most:g}")
        try:
            out += self._code.pack(math.nan if math.isnan(value) else value)
        except OverflowError:
            raise WireError(f"{value!r} does not fit into {self.fixed} bytes") from None

    def read(self, octets: ByteReader) -> float:
        """Decode the number in IEEE 754; raise `WireError` if it is out of bounds."""
        data = octets.take(self.fixed or 0)
        value = float(self._code.unpack(data)[0])
        if not self.fits(value) or (math.isnan(value) and data != self._code.pack(math.nan)):
            raise WireError(f"{value!r} is not a number from {self.least:g} to {self.most:g}")
        return value

    def generate(self, about: GenerationContext) -> float:
        """Return a bound, if there is one, or a number between the bounds."""
        bounds = [bound for bound in (self.least, self.most) if math.isfinite(bound)]
        if self.unknown and about.random.random() < 0.1:
            return math.nan
        if bounds and about.random.random() < 0.3:
            return self._stored(about.random.choice(bounds))
        low, high = max(self.least, -1e6), min(self.most, 1e6)
        return self._stored(about.random.uniform(low, high))

    def nearest(self, value: float) -> float:
        """Return the number that is decoded if `value` was encoded."""
        return float(self._code.unpack(self._code.pack(value))[0])

    def _stored(self, value: float) -> float:
        read = self.nearest(value)
        return read if self.fits(read) else 0.0

    def describe(self) -> str:
        """Return the size in words."""
        return f"{self.fixed} B, a number" + (" or unknown" if self.unknown else "")


class Flag(FieldCodec):
    """A boolean."""

    fixed = 1

    def length(self, value: Any) -> int:
        """Return the fixed size [B]."""
        return 1

    def write(self, out: bytearray, value: Any) -> None:
        """Append 0 or 1."""
        if type(value) is not bool:
            raise WireError(f"{value!r} is not a boolean")
        out.append(value)

    def read(self, octets: ByteReader) -> bool:
        """Decode 0 or 1; raise `WireError` for other bytes."""
        byte = octets.integer(1)
        if byte > 1:
            raise WireError(f"{byte} is neither 0 nor 1")
        return bool(byte)

    def generate(self, about: GenerationContext) -> bool:
        """Return a random boolean."""
        return about.random.random() < 0.5

    def describe(self) -> str:
        """Return the size in words."""
        return "1 B, 0 or 1"
