"""Neighbour table: the neighbours received recently, and detection of those that have become silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from roamcast.routing.router import Host, NodeId, Timer
from roamcast.routing.state.leases import Leases

TICK = 1e-9
"Tolerance for a timer that fires before its deadline by a rounding error [s]."


class Neighbours:
    """The current neighbours; calls `lose` for one that is silent for `silence` seconds or is evicted."""

    def __init__(self, host: Host, silence: float, capacity: int, lose: Callable[[NodeId], None]) -> None:
        self._host = host
        self._capacity = capacity
        self._lose = lose
        # One more entry than `capacity`, so that the evicted neighbour can be reported.
        self._heard: Leases[NodeId, float] = Leases(silence, capacity + 1)
        "The time of the last reception from each neighbour [s]."
        self._timer: Timer | None = None
        self._due = inf
        "When the timer fires [s]."

    def __len__(self) -> int:
        return len(self._heard)

    def __contains__(self, neighbour: NodeId) -> bool:
        return neighbour in self._heard

    def hear(self, neighbour: NodeId, now: float, silence: float | None = None) -> None:
        """Record a reception from `neighbour` and start its timeout.

        `silence` overrides the default timeout, for protocols in which each neighbour announces its own [s].
        """
        heard = self._heard
        if heard.renew(neighbour, now, now, silence) and len(heard) > self._capacity:
            first = heard.first()
            if first is not None:
                self._remove(first[0])
        if now + (heard.duration if silence is None else silence) < self._due:
            self._watch()

    def forget(self, neighbour: NodeId) -> None:
        """Remove a neighbour without calling `lose`."""
        self._heard.discard(neighbour)

    def heard_since(self, time: float) -> Iterator[NodeId]:
        """Yield the neighbours received since `time`, in the order of their last reception."""
        for neighbour, heard in self._heard.items(self._host.now()):
            if heard >= time:
                yield neighbour

    def _remove(self, neighbour: NodeId) -> None:
        self._heard.discard(neighbour)
        self._lose(neighbour)

    def _watch(self) -> None:
        """Schedule a check for the earliest timeout."""
        first = self._heard.first()
        if first is not None and first[1] < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = first[1]
            self._timer = self._host.call_later(max(self._due - self._host.now(), 0.0), self._check)

    def _check(self) -> None:
        """Remove and report the neighbours that have timed out."""
        self._timer, self._due = None, inf
        for neighbour, _ in list(self._heard.lapsed(self._host.now() + TICK)):
            if neighbour in self._heard:
                self._remove(neighbour)
        self._watch()
