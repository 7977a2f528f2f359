"""Acknowledgements of the link, which wait a moment for a packet that can carry them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from roamcast.wire.field import NodeId

ACK_HOLD = 0.012
"Seconds for which an acknowledgement waits for a packet to the same neighbour that can carry it."


class _Held:
    """Acknowledgements for one neighbour that wait."""

    __slots__ = ("due", "numbers")

    def __init__(self, due: float) -> None:
        self.due = due
        self.numbers: list[int] = []


class HeldAcks:
    """The acknowledgements of one node that wait, by neighbour."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, send: Callable[[NodeId, list[int]], None], most: int
    ) -> None:
        """`send` sends acknowledgements in a packet of their own; as many as `most` do not wait."""
        self._loop = loop
        self._send = send
        self._most = most
        self._held: dict[NodeId, _Held] = {}
        "Those that wait longest first."
        self._timer: asyncio.TimerHandle | None = None

    def add(self, node: NodeId, number: int, prompt: bool) -> None:
        """Acknowledge a packet of a neighbour; `prompt`: with the next `flush`."""
        held = self._held.get(node)
        if held is None:
            held = self._held[node] = _Held(self._loop.time() + ACK_HOLD)
        held.numbers.append(number)
        if prompt:
            held.due = 0.0

    def take(self, node: NodeId, most: int) -> list[int]:
        """Return and forget what waits for a neighbour; nothing if these are more than `most`."""
        held = self._held.get(node)
        if held is None or len(held.numbers) > most:
            return []
        del self._held[node]
        self._schedule()
        return held.numbers

    def flush(self, now: float = 0.0) -> None:
        """Send what is due at `now`, and what does not wait."""
        if not self._held:
            return
        for node, held in list(self._held.items()):
            if held.due <= now or len(held.numbers) >= self._most:
                del self._held[node]
                self._send(node, held.numbers)
        self._schedule()

    def close(self) -> None:
        """Forget all."""
        self._held.clear()
        self._schedule()

    def _schedule(self) -> None:
        """Let the timer wait for what is due first."""
        first = next(iter(self._held.values()), None)
        if self._timer is not None:
            if first is not None and self._timer.when() == first.due:
                return
            self._timer.cancel()
        self._timer = None if first is None else self._loop.call_at(first.due, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self.flush(self._loop.time())
