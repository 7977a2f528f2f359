"""The interface of field codecs: write, read, measure, describe and generate values."""

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
"Highest node id; the facts cannot store higher ones."


class GenerationContext:
    """The source of generated values: random numbers, nodes, filters, publications and message kinds."""

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
        """Return an integer in the bounds: often a bound, often small, sometimes any."""
        near = self.random.choice((least, most, least + 1, most - 1, self.random.randint(0, 40)))
        drawn = near if self.random.random() < 0.7 else self.random.randint(least, most)
        return min(max(drawn, least), most)


class FieldCodec(ABC):
    """The codec of one type of field."""

    fixed: int | None = None
    "Size [B] if it does not depend on the value, otherwise None."

    @abstractmethod
    def length(self, value: Any) -> int:
        """Return the size of `value` [B]."""

    def formula(self, value: str) -> str | None:
        """Return `length` as a Python expression in the expression `value`; None if it needs a call."""
        return None

    @abstractmethod
    def write(self, out: bytearray, value: Any) -> None:
        """Append `value`; raise `WireError` if it is out of bounds."""

    @abstractmethod
    def read(self, octets: ByteReader) -> Any:
        """Return the next value; raise `WireError` if it is out of bounds."""

    @abstractmethod
    def generate(self, about: GenerationContext) -> Any:
        """Return a generated value that can be written."""

    @abstractmethod
    def describe(self) -> str:
        """Return the size and the bounds in words."""
