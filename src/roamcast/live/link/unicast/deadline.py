"""A timer for the earliest of many deadlines, most of which pass before anything is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf


class Deadline:
    """Calls an action at the earliest time that was asked for.

    A later time does not move the timer: it then fires for nothing, which costs less than a timer for each
    packet and its acknowledgement. The action asks again for what is due later.
    """

    __slots__ = ("_action", "_closed", "_loop", "_timer", "when")

    def __init__(self, loop: asyncio.AbstractEventLoop, action: Callable[[float], object]) -> None:
        """`action` gets the time [s]."""
        self._loop = loop
        self._action = action
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self.when = inf
        "When the action is called next [s]."

    def ask(self, when: float) -> None:
        """Call the action at a time [s] at the latest."""
        if when >= self.when or self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.when = when
        self._timer = self._loop.call_at(when, self._fire)

    def close(self) -> None:
        """Call the action no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self.when, self._timer = inf, None
        self._action(self._loop.time())
