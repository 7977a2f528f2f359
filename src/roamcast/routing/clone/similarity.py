"""Interest sets of nodes, and their similarity to those of neighbours (definitions 1 and 2)."""

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
"Maximum number of requests in the history."


@lru_cache(maxsize=4096)
def digest(filter: Filter) -> int:
    """Return the digest of a filter as a 4-byte integer, the same on every machine."""
    return crc32(filter.to_bytes())


def similarity(one: frozenset[int], other: frozenset[int]) -> int:
    """Return SC, the number of common interests."""
    return len(one & other)


def weigh(own: frozenset[int], neighbours: Iterable[frozenset[int]]) -> int:
    """Return CPW, the sum of the similarities with each neighbour."""
    return min(sum([similarity(own, each) for each in neighbours]), HEAVIEST)


class RequestHistory:
    """A node's recent requests."""

    def __init__(self, memory: float) -> None:
        self._requests: Leases[int, int] = Leases(memory, REMEMBERED)
        self._count = 0
        self._cached: frozenset[int] = frozenset()
        self._cached_until = -inf

    def note(self, filter: Filter, now: float) -> None:
        """Add a request."""
        self._requests.sweep(now)
        self._count += 1
        self._requests.renew(self._count, digest(filter), now)
        self._cached_until = -inf

    def set(self, now: float) -> frozenset[int]:
        """Return S(i), the digests of recent requests; the latest ones, if a message cannot hold all."""
        if now < self._cached_until:
            return self._cached
        recent = self._requests.values(now)
        if len(recent) > MOST_INTERESTS:
            recent = list(dict.fromkeys(reversed(recent)))[:MOST_INTERESTS]
        first = self._requests.first()
        self._cached = frozenset(recent)
        self._cached_until = inf if first is None else first[1]
        return self._cached

    def share(self, interests: frozenset[int], now: float) -> float:
        """Return the sum of Pr(i) over `interests`: the fraction of recent requests that they cover."""
        requests = self._requests.values(now)
        return sum([each in interests for each in requests]) / len(requests) if requests else 0.0

    def footprint(self) -> Footprint:
        """Return the size: digest and time per request."""
        return Footprint(len(self._requests), 12 * len(self._requests), REMEMBERED)
