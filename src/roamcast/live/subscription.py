"""Subscriptions of an application: events of a filter, in the order of their delivery."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Publication
from roamcast.wire.encodings import FACTOR, OVERHEAD

MOST_EVENTS = 65_536
"Events that wait for a slow application; the oldest makes room."
MOST_BYTES = 32 << 20
"Bytes that these events hold; each is counted with what its objects take (`event_bytes`)."


def event_bytes(publication: Publication) -> int:
    """Return the bytes that a decoded publication is counted with."""
    return OVERHEAD + FACTOR * publication.length


class Subscription:
    """An asynchronous iterator of events; `async with` or `close` ends the subscription."""

    def __init__(
        self,
        wanted: Filter,
        end: Callable[[Subscription], None],
        most: int = MOST_EVENTS,
        taker: Callable[[Publication], None] | None = None,
    ) -> None:
        """With a `taker`, events are given to it at once, and the iterator has none."""
        self.filter = wanted
        self._taker = taker
        self.dropped = 0
        "Events that the application did not take in time."
        self._end = end
        self._publications: deque[Publication] = deque()
        self._most = most
        self._bytes = 0
        self._arrived = asyncio.Event()
        self._closed = False

    def deliver(self, publication: Publication) -> None:
        """Take an event that matches."""
        if self._closed:
            return
        if self._taker is not None:
            self._taker(publication)
            return
        self._bytes += event_bytes(publication)
        self._publications.append(publication)
        while len(self._publications) > self._most or self._bytes > MOST_BYTES:
            self._take_first()
            self.dropped += 1
        self._arrived.set()

    def _take_first(self) -> Publication:
        first = self._publications.popleft()
        self._bytes -= event_bytes(first)
        return first

    async def next_publication(self) -> Publication:
        """Wait for the next event and return it with its publisher; raises StopAsyncIteration at the end."""
        while not self._publications:
            if self._closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._take_first()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        return (await self.next_publication()).event

    def close(self) -> None:
        """End the subscription; events that have arrived can still be read."""
        if not self._closed:
            self._closed = True
            self._arrived.set()
            self._end(self)

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
