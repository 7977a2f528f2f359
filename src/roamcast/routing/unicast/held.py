"""Datagrams that wait for a route: a few for each destination, and never for more than some."""

from __future__ import annotations

from collections import deque

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.unicast import Datagram


class Held:
    """What is kept until a route is known; what must make room is given back."""

    def __init__(self, each: int, destinations: int) -> None:
        self._each = each
        self._destinations = destinations
        self._waiting: dict[NodeId, deque[tuple[float, Datagram]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __contains__(self, destination: NodeId) -> bool:
        return destination in self._waiting

    def keep(self, datagram: Datagram, now: float) -> list[Datagram]:
        """Keep a datagram; the value is what had to go for it."""
        let_go: list[Datagram] = []
        waiting = self._waiting.get(datagram.destination)
        if waiting is None:
            if len(self._waiting) >= self._destinations:
                let_go += [each for _, each in self._waiting.pop(next(iter(self._waiting)))]
            waiting = self._waiting[datagram.destination] = deque()
        waiting.append((now, datagram))
        while len(waiting) > self._each:
            let_go.append(waiting.popleft()[1])
        return let_go

    def release(self, destination: NodeId) -> list[tuple[float, Datagram]]:
        """Take out what waited for a route to `destination`, and since when."""
        return list(self._waiting.pop(destination, ()))

    def bytes(self) -> int:
        """What is held, as it would be sent."""
        return sum(datagram.size for waiting in self._waiting.values() for _, datagram in waiting)
