"""A first-in, first-out buffer of messages that wait for a route, limited in size and in time."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from roamcast.routing.router import Message, NodeId


class BufferedMessage(NamedTuple):
    """A message that waits for a route to its destination."""

    since: float
    destination: NodeId
    message: Message


class SendBuffer:
    """Messages that wait for routes; evicted and expired ones are returned to the caller."""

    def __init__(self, limit: int, timeout: float) -> None:
        self.limit = limit
        self._timeout = timeout
        self._waiting: dict[int, BufferedMessage] = {}
        "In order of arrival."
        self._each: Counter[NodeId] = Counter()
        self._number = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, destination: NodeId) -> bool:
        return destination in self._each

    def add(self, message: Message, destination: NodeId, now: float) -> list[BufferedMessage]:
        """Add a message; return the evicted messages."""
        self._number += 1
        self._waiting[self._number] = BufferedMessage(now, destination, message)
        self._each[destination] += 1
        removed = []
        while len(self._waiting) > self.limit:
            removed.append(self._take(next(iter(self._waiting))))
        return removed

    def lapsed(self, now: float) -> list[BufferedMessage]:
        """Remove and return the expired messages."""
        removed = []
        while self._waiting:
            first = next(iter(self._waiting))
            if self._waiting[first].since + self._timeout > now:
                break
            removed.append(self._take(first))
        return removed

    def release(self, destination: NodeId, most: int | None = None) -> list[BufferedMessage]:
        """Remove and return the messages for `destination` in order, at most `most` of them."""
        if destination not in self._each:
            return []
        numbers = [number for number, each in self._waiting.items() if each.destination == destination]
        return [self._take(number) for number in numbers[:most]]

    def destinations(self) -> list[NodeId]:
        """Return the destinations of waiting messages, longest waiting first."""
        return list(dict.fromkeys(each.destination for each in self._waiting.values()))

    def bytes(self) -> int:
        """Return the size of the messages as sent [B]."""
        return sum(each.message.size for each in self._waiting.values())

    def _take(self, number: int) -> BufferedMessage:
        taken = self._waiting.pop(number)
        self._each[taken.destination] -= 1
        if not self._each[taken.destination]:
            del self._each[taken.destination]
        return taken
