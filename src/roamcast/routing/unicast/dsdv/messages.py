"""What DSDV says of its routes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roamcast.routing.router import Category, Message, Role
from roamcast.wire.fields import Int, ListOf, Node, Serial

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


class DsdvUpdate(Message, number=49, category=Category.ROUTING, role=Role.FINDS_ROUTE):
    """What a node knows of the ways to others: all of it, or what is new."""

    entries: Annotated[tuple[DsdvEntry, ...], ListOf(1024, least=1)]

    @property
    def minimum_size(self) -> int:
        """Twelve bytes an entry, as ns-2 has it."""
        return ENTRY_SIZE * len(self.entries)
