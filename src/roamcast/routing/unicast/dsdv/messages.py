"""What DSDV says of its routes."""

from __future__ import annotations

from typing import ClassVar

from roamcast.routing.router import Category, Message, NodeId

HIGHEST_SEQUENCE = 2**32 - 1
HALF = 2**31
"A sequence number is higher than another if it is less than this much ahead of it, counted in a circle."
HIGHEST_NODE = 2**31 - 1
ENTRY_SIZE = 12


class DsdvUpdate(Message, frozen=True, gc=False):
    """What a node knows of the ways to others: all of it, or what is new."""

    category: ClassVar[Category] = Category.ROUTING

    entries: tuple[tuple[NodeId, int, int], ...]
    "Destination, metric, sequence number."

    @property
    def size(self) -> int:
        """Twelve bytes an entry."""
        return ENTRY_SIZE * len(self.entries)
