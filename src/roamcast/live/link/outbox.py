"""Outbox: packets on their way to the sockets, within the node's airtime budget."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from roamcast.live.link.datagrams import Address

MOST_PACKETS = 1024
"Packets that wait for airtime; a newcomer is dropped if there are as many."
BURST = 0.05
"Seconds of airtime that may be used at once after a pause."

Emit = Callable[[bytes, int, "Address | None"], int]


class Outbox:
    """Sends packets at once without a budget, else at the budget's rate, urgent ones first."""

    def __init__(self, loop: asyncio.AbstractEventLoop, emit: Emit, budget: float | None) -> None:
        """`emit` sends a packet and returns the bytes sent; `budget`: bytes a second, None without limit."""
        self._loop = loop
        self._emit = emit
        self._budget = budget
        self._credit = 0.0 if budget is None else budget * BURST
        self._at = loop.time()
        self._urgent: deque[tuple[bytes, int, Address | None]] = deque()
        self._others: deque[tuple[bytes, int, Address | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.overflowed = 0

    def __len__(self) -> int:
        return len(self._urgent) + len(self._others)

    def put(self, body: bytes, bearer: int, address: Address | None, urgent: bool) -> None:
        """Send a packet to an address of a bearer; to everyone if the address is None."""
        if self._budget is None:
            self._emit(body, bearer, address)
            return
        if len(self) >= MOST_PACKETS:
            self.overflowed += 1
            return
        (self._urgent if urgent else self._others).append((body, bearer, address))
        if self._timer is None:
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        assert self._budget is not None
        now = self._loop.time()
        self._credit = min(self._credit + (now - self._at) * self._budget, self._budget * BURST)
        self._at = now
        while self._credit > 0:
            queue = self._urgent or self._others
            if not queue:
                return
            self._credit -= self._emit(*queue.popleft())
        self._timer = self._loop.call_later(max(-self._credit / self._budget, 0.001), self._flush)

    def close(self) -> None:
        """Drop what waits."""
        if self._timer is not None:
            self._timer.cancel()
        self._urgent.clear()
        self._others.clear()
