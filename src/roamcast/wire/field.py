"""What a kind of field must do: write, read, measure, describe and invent itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from roamcast.wire.byte_reader import ByteReader

if TYPE_CHECKING:
    from roamcast.content.filter import Filter
    from roamcast.wire.message import Message
    from roamcast.wire.publication import Publication

NodeId: TypeAlias = int

HIGHEST_NODE = 2**31 - 1
"Of node ids; what is beyond has no place in the facts."


class GenerationContext:
    """What invented values are made from: chance, and nodes, filters, publications and kinds of message."""

    def __init__(
        self,
        random: Random,
        *,
        nodes: Sequence[NodeId] = (0, 1, 2, HIGHEST_NODE),
        patterns: Sequence[Filter] = (),
        publications: Sequence[Publication] = (),
        messages: Sequence[type[Message]] = (),
    ) -> None:
        self.random = random
        self.nodes = nodes
        self.patterns = patterns
        self.publications = publications
        self.messages = messages

    def integer(self, least: int, most: int) -> int:
        """A whole number: often at a bound, often small, now and then anything."""
        near = self.random.choice((least, most, least + 1, most - 1, self.random.randint(0, 40)))
        drawn = near if self.random.random() < 0.7 else self.random.randint(least, most)
        return min(max(drawn, least), most)


class FieldCodec(ABC):
    """One kind of field."""

    fixed: int | None = None
    "Bytes that it takes, where that does not depend on the value."

    @abstractmethod
    def length(self, value: Any) -> int:
        """Bytes that `value` takes."""

    def formula(self, value: str) -> str | None:
        """`length` as an expression in `value`, which is one itself; None where that takes a call."""
        return None

    @abstractmethod
    def write(self, out: bytearray, value: Any) -> None:
        """Append `value`, or raise a `WireError` if it is out of bounds."""

    @abstractmethod
    def read(self, octets: ByteReader) -> Any:
        """The next value, or a `WireError` if there is none within bounds."""

    @abstractmethod
    def generate(self, about: GenerationContext) -> Any:
        """Some value that can be written."""

    @abstractmethod
    def describe(self) -> str:
        """Its bytes and bounds, in a few words."""
