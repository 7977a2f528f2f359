"""Field codecs of several values: lists and sets of one type, and named tuples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import FieldCodec, GenerationContext
from roamcast.wire.numbers import Flag


class ListOf(FieldCodec):
    """Several values of one type, at most `most`, preceded by their number.

    A tuple keeps its order. A frozenset is written in ascending order, and read in no other.
    """

    def __init__(self, most: int, *, least: int = 0) -> None:
        self.most = most
        self.least = least
        self.count_bytes = 1 if most <= 0xFF else 2
        self.item: FieldCodec = Flag()
        self.ordered = True

    def of(self, item: FieldCodec, *, ordered: bool) -> ListOf:
        """Return a copy of this codec for items of the given codec."""
        listed = ListOf(self.most, least=self.least)
        listed.item, listed.ordered = item, ordered
        return listed

    def length(self, value: Any) -> int:
        """Return the size of the count and the items [B]."""
        if self.item.fixed is not None:
            return self.count_bytes + self.item.fixed * len(value)
        return self.count_bytes + sum(map(self.item.length, value))

    def formula(self, value: str) -> str | None:
        """Return an expression for the size; None if the size of an item needs a call."""
        if self.item.fixed is not None:
            return f"{self.count_bytes} + {self.item.fixed} * len({value})"
        each = self.item.formula("item")
        return None if each is None else f"{self.count_bytes} + sum([{each} for item in {value}])"

    def write(self, out: bytearray, value: Any) -> None:
        """Append the number of items and the items."""
        if not isinstance(value, tuple if self.ordered else frozenset):
            raise WireError(f"{value!r} is not a {'tuple' if self.ordered else 'frozenset'}")
        if not self.least <= len(value) <= self.most:
            raise WireError(f"{len(value)} items; {self.least} to {self.most} expected")
        out += len(value).to_bytes(self.count_bytes, "big")
        for item in value if self.ordered else sorted(value):
            self.item.write(out, item)

    def read(self, octets: ByteReader) -> tuple[Any, ...] | frozenset[Any]:
        """Decode the number of items and the items."""
        count = octets.integer(self.count_bytes)
        if not self.least <= count <= self.most:
            raise WireError(f"{count} items; {self.least} to {self.most} expected")
        items = tuple(self.item.read(octets) for _ in range(count))
        if self.ordered:
            return items
        if any(a >= b for a, b in pairwise(items)):
            raise WireError("the items of a set are not sorted")
        return frozenset(items)

    def generate(self, about: GenerationContext) -> tuple[Any, ...] | frozenset[Any]:
        """Return a few items, rarely the maximum number."""
        most = self.most if about.random.random() < 0.05 else min(self.most, self.least + 5)
        items = [self.item.generate(about) for _ in range(about.random.randint(self.least, most))]
        return tuple(items) if self.ordered else frozenset(items)

    def describe(self) -> str:
        """Return the number and the type of items in words."""
        kind = "list" if self.ordered else "set"
        return f"{kind}: {self.count_bytes} B and {self.least} to {self.most} x ({self.item.describe()})"


class TupleOf(FieldCodec):
    """The fields of a NamedTuple, in order."""

    def __init__(self, kind: type[Any], fields: dict[str, FieldCodec]) -> None:
        self.kind = kind
        self.fields = fields
        lengths = [field.fixed for field in fields.values()]
        self.fixed = None if None in lengths else sum(length or 0 for length in lengths)

    def length(self, value: Any) -> int:
        """Return the size of all fields [B]."""
        if self.fixed is not None:
            return self.fixed
        return sum(field.length(part) for field, part in zip(self.fields.values(), value, strict=True))

    def formula(self, value: str) -> str | None:
        """Return an expression for the size; None if the size of a field needs a call."""
        fixed = sum(field.fixed or 0 for field in self.fields.values())
        varying = [
            field.formula(f"{value}[{place}]")
            for place, field in enumerate(self.fields.values())
            if field.fixed is None
        ]
        return None if None in varying else " + ".join([str(fixed), *(term for term in varying if term)])

    def write(self, out: bytearray, value: Any) -> None:
        """Append all fields in order."""
        if type(value) is not self.kind:
            raise WireError(f"{value!r} is not a {self.kind.__name__}")
        for field, part in zip(self.fields.values(), value, strict=True):
            field.write(out, part)
        self.check(value)

    def read(self, octets: ByteReader) -> Any:
        """Decode all fields in order; raise `WireError` if they contradict each other."""
        value = self.kind(*(field.read(octets) for field in self.fields.values()))
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise `WireError` if fields contradict each other."""
        problem = value.inconsistency() if hasattr(self.kind, "inconsistency") else None
        if problem is not None:
            raise WireError(problem)

    def generate(self, about: GenerationContext) -> Any:
        """Generate each field independently until they are consistent."""
        for _ in range(1000):
            value = self.kind(*(field.generate(about) for field in self.fields.values()))
            if not hasattr(self.kind, "inconsistency") or value.inconsistency() is None:
                return value
        raise AssertionError(f"no {self.kind.__name__} could be generated")

    def describe(self) -> str:
        """Return the fields in words."""
        return ", ".join(f"{name} {field.describe()}" for name, field in self.fields.items())


class PlainRecord(TupleOf):
    """The fields of a NamedTuple as a plain tuple, which is faster to read.

    For messages with many entries.
    """

    def write(self, out: bytearray, value: Any) -> None:
        """Append all fields in order."""
        if not isinstance(value, tuple) or len(value) != len(self.fields):
            raise WireError(f"{value!r} is not a tuple of {len(self.fields)}")
        super().write(out, self.kind(*value))

    def read(self, octets: ByteReader) -> Any:
        """Decode all fields in order."""
        return tuple(super().read(octets))

    def generate(self, about: GenerationContext) -> Any:
        """Generate each field independently until they are consistent."""
        return tuple(super().generate(about))
