"""What CBR and FT-CBR say (Table 2 of the paper), with honest sizes.

A node's address takes 4 bytes, a sequence number 4, a hop count or a count 2, a pattern its code.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.router import Category, Message, NodeId, Publication

HIGHEST_SERIAL = 2**32 - 1
HIGHEST_NODE = 2**31 - 1
HIGHEST_ID = 2**63 - 1
"Of a publication; what is beyond has no place in the facts, so nobody passes it on."


@lru_cache(maxsize=4096)
def pattern_size(pattern: Filter) -> int:
    """Bytes of a pattern on the air, and two for its length."""
    return 2 + len(pattern.to_bytes())


class Advert(Message, frozen=True, gc=False):
    """What a publisher is going to publish, and how far from it the speaker is."""

    category: ClassVar[Category] = Category.ROUTING

    publisher: NodeId
    pattern: Filter
    hops: int
    serial: int
    "Counted by the publisher, so that neighbours cannot keep a dead publisher alive among themselves."
    incarnation: int = 0
    "A number that the publisher drew when it started; another one means that it has forgotten everything."

    @property
    def size(self) -> int:
        """Address, hops, serial, incarnation and pattern."""
        return 14 + pattern_size(self.pattern)


class Subscription(Message, frozen=True, gc=False):
    """What the speaker wants, for itself or for others: it does not say which."""

    category: ClassVar[Category] = Category.SUBSCRIPTION

    pattern: Filter

    @property
    def size(self) -> int:
        """The pattern and a byte for the kind."""
        return 1 + pattern_size(self.pattern)


class MostCovering(Message, frozen=True, gc=False):
    """How many subscriptions the speaker has under a pattern, and how far they travel to the publisher."""

    category: ClassVar[Category] = Category.SUBSCRIPTION

    publisher: NodeId
    pattern: Filter
    count: int
    hops: int

    @property
    def size(self) -> int:
        """Address, count, hops and pattern."""
        return 8 + pattern_size(self.pattern)


class TreeEvent(Message, frozen=True, gc=False):
    """A publication on its way down the tree, or flooded in search of lost children."""

    category: ClassVar[Category] = Category.EVENT

    id: int
    "The publication's id, here again so that a duplicate is known at one look."
    publication: Publication
    children: frozenset[NodeId]
    "Who is to take it."
    flood: int = 0
    "Hops left to flood; 0 on the tree."

    @property
    def size(self) -> int:
        """The size of the publication, whose padding leaves room for the children's addresses."""
        return self.publication.size

    @property
    def about(self) -> int:
        """The publication it carries."""
        return self.id


class EventAck(Message, frozen=True, gc=False):
    """One hop's word that an event has arrived."""

    category: ClassVar[Category] = Category.CONTROL

    id: int

    @property
    def size(self) -> int:
        """Publisher and sequence number, and a byte for the kind."""
        return 9

    @property
    def about(self) -> int:
        """The publication that arrived."""
        return self.id
