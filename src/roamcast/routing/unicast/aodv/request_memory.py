"""Requests that a node remembers for a limited time (ns-2's BCAST_ID_SAVE)."""

from __future__ import annotations

from roamcast.routing.state.seen import Recent


class RequestMemory:
    """Request ids in two generations; at each multiple of `period` [s] the older one is discarded.

    An id is remembered for one to two periods. A request that waited longer in a queue counts as new.
    """

    def __init__(self, limit: int, period: float) -> None:
        self._limit = limit
        self._period = period
        self._window = 0
        self._current = Recent(limit)
        self._previous = Recent(limit)

    def __len__(self) -> int:
        return len(self._current) + len(self._previous)

    def add(self, request: int, now: float) -> bool:
        """Remember a request; return False if it is already remembered."""
        window = int(now / self._period)
        if window > self._window:
            self._previous = self._current if window == self._window + 1 else Recent(self._limit)
            self._current = Recent(self._limit)
            self._window = window
        return request not in self._previous and self._current.add(request)
