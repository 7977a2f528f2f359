"""Numbers: whole ones within bounds, nodes, ids of publications, reals, and flags."""

from __future__ import annotations

import math
import struct
from typing import Any

from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext, NodeId


class Int(FieldCodec):
    """A whole number of a few bytes, between two bounds; negative ones are written as two's complement."""

    def __init__(self, bytes: int, *, least: int = 0, most: int | None = None) -> None:
        self.fixed = bytes
        self.signed = least < 0
        highest = (1 << 8 * bytes - self.signed) - 1
        self.least = least
        self.most = highest if most is None else most
        if self.most > highest or least < -highest - 1 or least > self.most:
            raise ValueError(f"{least} to {self.most} do not fit into {bytes} bytes")

    def length(self, value: Any) -> int:
        """Always the same."""
        return self.fixed or 0

    def write(self, out: bytearray, value: Any) -> None:
        """The highest byte first."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise WireError(f"{value!r} is not a whole number from {self.least} to {self.most}")
        out += value.to_bytes(self.fixed or 0, "big", signed=self.signed)

    def read(self, octets: ByteReader) -> int:
        """The highest byte first."""
        value = int.from_bytes(octets.take(self.fixed or 0), "big", signed=self.signed)
        if not self.least <= value <= self.most:
            raise WireError(f"{value} is not between {self.least} and {self.most}")
        return value

    def generate(self, about: GenerationContext) -> int:
        """Bounds are tried more often than what lies between."""
        return about.integer(self.least, self.most)

    def describe(self) -> str:
        """Bytes, and bounds where they are not the bytes' own."""
        return f"{self.fixed} B, {self.least} to {self.most}"


class NodeField(Int):
    """The id of a node."""

    def __init__(self) -> None:
        super().__init__(4, most=HIGHEST_NODE)

    def generate(self, about: GenerationContext) -> NodeId:
        """Mostly a node that exists."""
        return about.random.choice(about.nodes) if about.random.random() < 0.8 else super().generate(about)

    def describe(self) -> str:
        """A node."""
        return "4 B, a node"


class PublicationRef(Int):
    """The id of the publication that the message serves."""

    def __init__(self) -> None:
        super().__init__(8, most=2**63 - 1)

    def generate(self, about: GenerationContext) -> int:
        """Mostly of a publication that exists."""
        if about.publications and about.random.random() < 0.7:
            return int(about.random.choice(about.publications).id)
        return super().generate(about)

    def describe(self) -> str:
        """A publication's id."""
        return "8 B, the id of a publication"


class Float(FieldCodec):
    """A finite number, or where `unknown` is allowed nan, of four bytes or eight."""

    def __init__(
        self, bytes: int = 8, *, least: float = -math.inf, most: float = math.inf, unknown: bool = False
    ) -> None:
        self.fixed = bytes
        self._code = struct.Struct({4: ">f", 8: ">d"}[bytes])
        self.least = least
        self.most = most
        self.unknown = unknown

    def _fits(self, value: float) -> bool:
        if math.isnan(value):
            return self.unknown
        return math.isfinite(value) and self.least <= value <= self.most

    def length(self, value: Any) -> int:
        """Always the same."""
        return self.fixed or 0

    def write(self, out: bytearray, value: Any) -> None:
        """As IEEE 754 has it; there is one way to write nan."""
        if type(value) is not float or not self._fits(value):
            raise WireError(f"{value!r} is not a number from {self.least:g} to {self.most:g}")
        try:
            out += self._code.pack(math.nan if math.isnan(value) else value)
        except OverflowError:
            raise WireError(f"{value!r} does not fit into {self.fixed} bytes") from None

    def read(self, octets: ByteReader) -> float:
        """As IEEE 754 has it."""
        data = octets.take(self.fixed or 0)
        value = float(self._code.unpack(data)[0])
        if not self._fits(value) or (math.isnan(value) and data != self._code.pack(math.nan)):
            raise WireError(f"{value!r} is not a number from {self.least:g} to {self.most:g}")
        return value

    def generate(self, about: GenerationContext) -> float:
        """Bounds, where there are any, or something between."""
        bounds = [bound for bound in (self.least, self.most) if math.isfinite(bound)]
        if self.unknown and about.random.random() < 0.1:
            return math.nan
        if bounds and about.random.random() < 0.3:
            return self._invented(about.random.choice(bounds))
        low, high = max(self.least, -1e6), min(self.most, 1e6)
        return self._invented(about.random.uniform(low, high))

    def nearest(self, value: float) -> float:
        """Return the number that is read where `value` was written."""
        return float(self._code.unpack(self._code.pack(value))[0])

    def _invented(self, value: float) -> float:
        read = self.nearest(value)
        return read if self._fits(read) else 0.0

    def describe(self) -> str:
        """Bytes and bounds."""
        return f"{self.fixed} B, a number" + (" or unknown" if self.unknown else "")


class Flag(FieldCodec):
    """Yes or no."""

    fixed = 1

    def length(self, value: Any) -> int:
        """One byte."""
        return 1

    def write(self, out: bytearray, value: Any) -> None:
        """0 or 1."""
        if type(value) is not bool:
            raise WireError(f"{value!r} is neither yes nor no")
        out.append(value)

    def read(self, octets: ByteReader) -> bool:
        """0 or 1, and nothing else."""
        byte = octets.integer(1)
        if byte > 1:
            raise WireError(f"{byte} is neither yes nor no")
        return bool(byte)

    def generate(self, about: GenerationContext) -> bool:
        """Either."""
        return about.random.random() < 0.5

    def describe(self) -> str:
        """A flag."""
        return "1 B, 0 or 1"
