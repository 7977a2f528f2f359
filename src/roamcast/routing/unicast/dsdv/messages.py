"""The messages of DSDV."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from roamcast.routing.router import Category, Message, NodeId, Role
from roamcast.wire.fields import Int, ListOf, Node, Serial, plain

HIGHEST_SEQUENCE = 2**32 - 1
HALF = 2**31
"A sequence number is higher than another if it is ahead of it by less than this, modulo 2^32."
INFINITY = 250
"Metric of an unreachable destination."
ENTRY_SIZE = 12
"Size of an entry in ns-2 [B]."


class DsdvEntry(NamedTuple):
    """A route to one destination."""

    destination: Node
    metric: Annotated[int, Int(1, most=INFINITY)]
    sequence: Serial


Row: TypeAlias = Annotated[tuple[NodeId, int, int], plain(DsdvEntry)]
"""A `DsdvEntry` as a plain tuple, which is unpacked in a fifth of the time; nodes process thousands per
second."""


class DsdvUpdate(Message, number=49, category=Category.ROUTING, role=Role.ROUTING):
    """Routes of the sender: its whole table, or the changes."""

    entries: Annotated[tuple[Row, ...], ListOf(1024, least=1)]

    def __repr__(self) -> str:
        return f"DsdvUpdate(entries={tuple(map(DsdvEntry._make, self.entries))!r})"

    @property
    def minimum_size(self) -> int:
        """12 B per entry, as in ns-2."""
        return ENTRY_SIZE * len(self.entries)
