"""What a node is interested in, and how much its neighbours are, too (definitions 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf
from zlib import crc32

from roamcast.content.filter import Filter
from roamcast.routing.clone.messages import HEAVIEST, MOST_INTERESTS
from roamcast.routing.router import Footprint
from roamcast.routing.state.leases import Leases

REMEMBERED = 256
"Requests of a node that count."


@lru_cache(maxsize=4096)
def digest(wanted: Filter) -> int:
    """A filter as a number of four bytes, the same on every machine."""
    return crc32(wanted.to_bytes())


def similarity(one: frozenset[int], other: frozenset[int]) -> int:
    """SC: the number of common interests."""
    return len(one & other)


def weigh(own: frozenset[int], neighbours: Iterable[frozenset[int]]) -> int:
    """CPW: the sum of the similarity with each neighbour."""
    return min(sum([similarity(own, each) for each in neighbours]), HEAVIEST)


class RequestHistory:
    """A node's requests of late."""

    def __init__(self, memory: float) -> None:
        self._asked: Leases[int, int] = Leases(memory, REMEMBERED)
        self._count = 0
        self._told: frozenset[int] = frozenset()
        self._told_until = -inf

    def note(self, wanted: Filter, now: float) -> None:
        """Remember that something was asked for."""
        self._asked.sweep(now)
        self._count += 1
        self._asked.renew(self._count, digest(wanted), now)
        self._told_until = -inf

    def set(self, now: float) -> frozenset[int]:
        """S(i): what was asked for lately; of more than a message can tell, what was asked for last."""
        if now < self._told_until:
            return self._told
        distinct: dict[int, None] = {}
        for each in self._asked.values(now):
            distinct.pop(each, None)
            distinct[each] = None
        first = self._asked.first()
        self._told = frozenset(list(distinct)[-MOST_INTERESTS:])
        self._told_until = inf if first is None else first[1]
        return self._told

    def share(self, interests: frozenset[int], now: float) -> float:
        """The sum of Pr(i) over the contents in `interests`: how probably the next request is for one."""
        asked = self._asked.values(now)
        return sum([each in interests for each in asked]) / len(asked) if asked else 0.0

    def footprint(self) -> Footprint:
        """Digest and time of each request."""
        return Footprint(len(self._asked), 12 * len(self._asked), REMEMBERED)
