"""What DSDV says of its routes."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.routing.router import Category, Message, NodeId, Role
from roamcast.wire.fields import Int, ListOf, Node, Serial, plain

HIGHEST_SEQUENCE = 2**32 - 1
HALF = 2**31
"A sequence number is higher than another if it is less than this much ahead of it, counted in a circle."
INFINITY = 250
"The metric of a destination that cannot be reached."
ENTRY_SIZE = 12
"Bytes that ns-2 counts for an entry."


class DsdvEntry(NamedTuple):
    """What a node says of one destination."""

    destination: Node
    metric: Annotated[int, Int(1, most=INFINITY)]
    sequence: Serial


Row: TypeAlias = Annotated[tuple[NodeId, int, int], plain(DsdvEntry)]
"An Entry as a plain tuple: a node takes in thousands a second, and unpacks these in a fifth of the time."


class DsdvUpdate(Message, number=49, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """What a node knows of the ways to others: all of it, or what is new."""

    entries: Annotated[tuple[Row, ...], ListOf(1024, least=1)]

    def __repr__(self) -> str:
        return f"DsdvUpdate(entries={tuple(map(DsdvEntry._make, self.entries))!r})"

    @property
    def minimum_size(self) -> int:
        """Twelve bytes an entry, as ns-2 has it."""
        return ENTRY_SIZE * len(self.entries)
