"""The clock of an event loop, without a call in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


def clock_of(loop: asyncio.AbstractEventLoop) -> Callable[[], float]:
    """Return the function that `loop.time` calls, or `loop.time` if it is not asyncio's own."""
    return time.monotonic if type(loop).time is asyncio.BaseEventLoop.time else loop.time
