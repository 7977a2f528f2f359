"""Timers of a router: one heap per node, and one timer of the event loop for the earliest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from roamcast.live.link.clock import clock_of

MOST_CANCELLED = 256
"Cancelled timers that may stay in the heap, if they are more than half of it."


class LiveTimer:
    """A timer of a router."""

    __slots__ = ("_action", "_args", "_queue")

    def __init__(self, queue: TimerQueue, action: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._queue = queue
        self._action: Callable[..., object] | None = action
        self._args = args

    def cancel(self) -> None:
        """Make sure that it will not happen."""
        if self._action is not None:
            self._action, self._args = None, ()
            self._queue.note_cancelled()

    @property
    def active(self) -> bool:
        """Whether it is still to happen."""
        return self._action is not None

    def take(self) -> tuple[Callable[..., object], tuple[Any, ...]] | None:
        """Return the action and its arguments, which are to be called now; None if it was cancelled."""
        action, self._action = self._action, None
        return None if action is None else (action, self._args)


class TimerQueue:
    """The timers of one node."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        guard: Callable[..., Any],
        begin: Callable[[], None],
        end: Callable[[], None],
    ) -> None:
        """`guard` calls an action and handles its exceptions; `begin` and `end` enclose several at once."""
        self._loop = loop
        self._time = clock_of(loop)
        self._guard = guard
        self._begin, self._end = begin, end
        self._heap: list[tuple[float, int, LiveTimer]] = []
        self._count = 0
        self._cancelled = 0
        self._handle: asyncio.TimerHandle | None = None
        self._due = inf
        self._ended = False

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, delay: float, action: Callable[..., object], args: tuple[Any, ...]) -> LiveTimer:
        """Call `action(*args)` after `delay` seconds; of equal times, in the order of the calls."""
        timer = LiveTimer(self, action, args)
        when = self._time() + delay
        self._count += 1
        heappush(self._heap, (when, self._count, timer))
        if when < self._due:
            self._schedule(when)
        return timer

    def note_cancelled(self) -> None:
        """Count a cancelled timer; remove all of them from the heap if they are many."""
        self._cancelled += 1
        if self._cancelled > MOST_CANCELLED and 2 * self._cancelled > len(self._heap):
            self._heap = [each for each in self._heap if each[2].active]
            heapify(self._heap)
            self._cancelled = 0

    def close(self) -> None:
        """Fire no more."""
        self._ended = True
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _schedule(self, when: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._due = when
        self._handle = None if self._ended else self._loop.call_at(when, self._run)

    def _run(self) -> None:
        self._handle, self._due = None, -inf  # timers that actions add are scheduled below
        now = self._time()
        held = False
        try:
            while self._heap and self._heap[0][0] <= now:
                due = heappop(self._heap)[2].take()
                if due is None:
                    self._cancelled -= 1
                    continue
                if not held and self._heap and self._heap[0][0] <= now:
                    held = True
                    self._begin()
                action, args = due
                self._guard(action, *args)
        finally:
            if held:
                self._end()
        self._due = inf
        if self._heap:
            self._schedule(self._heap[0][0])
