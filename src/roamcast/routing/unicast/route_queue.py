"""Datagrams that wait for a route, with limits per destination and in time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from roamcast.routing.router import Drop, Host, NodeId, Timer
from roamcast.routing.unicast.unicast import Datagram


class RouteQueue:
    """Datagrams that wait for a route; those that are evicted or expire are dropped."""

    def __init__(
        self,
        host: Host,
        each: int,
        destinations: int,
        timeout: float,
        drop: Callable[[Datagram, Drop], None],
    ) -> None:
        self._host = host
        self._each = each
        self._destinations = destinations
        self._timeout = timeout
        "Maximum waiting time [s]; 0: unlimited."
        self._drop = drop
        self._waiting: dict[NodeId, deque[tuple[float, Datagram]]] = {}
        self._timer: Timer | None = None

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __contains__(self, destination: NodeId) -> bool:
        return destination in self._waiting

    def add(self, datagram: Datagram) -> None:
        """Add a datagram; older ones may be evicted."""
        full: list[Datagram] = []
        waiting = self._waiting.get(datagram.destination)
        if waiting is None:
            if len(self._waiting) >= self._destinations:
                full += [each for _, each in self._waiting.pop(next(iter(self._waiting)))]
            waiting = self._waiting[datagram.destination] = deque()
        waiting.append((self._host.now(), datagram))
        while len(waiting) > self._each:
            full.append(waiting.popleft()[1])
        if self._timeout and self._timer is None:
            self._timer = self._host.call_later(self._timeout, self._drop_expired)
        for evicted in full:
            self._drop(evicted, Drop.TABLE_FULL)

    def release(self, destination: NodeId) -> list[tuple[float, Datagram]]:
        """Remove and return the datagrams for `destination`, with the times at which they were added."""
        return list(self._waiting.pop(destination, ()))

    def bytes(self) -> int:
        """Return the size of the datagrams as sent [B]."""
        return sum(datagram.size for waiting in self._waiting.values() for _, datagram in waiting)

    def _drop_expired(self) -> None:
        """Drop the expired datagrams, and set the timer for the next one."""
        self._timer = None
        now = self._host.now()
        # Times are rounded: a datagram that expires now must not set the timer again.
        late = self._handle_before(now - self._timeout + 1e-9)
        oldest = min((waiting[0][0] for waiting in self._waiting.values() if waiting), default=None)
        if oldest is not None:
            self._timer = self._host.call_later(oldest + self._timeout - now, self._drop_expired)
        for datagram in late:
            self._drop(datagram, Drop.EXPIRED)

    def _handle_before(self, time: float) -> list[Datagram]:
        taken: list[Datagram] = []
        for destination, waiting in list(self._waiting.items()):
            while waiting and waiting[0][0] <= time:
                taken.append(waiting.popleft()[1])
            if not waiting:
                del self._waiting[destination]
        return taken
