"""A limit on how often something is said: so many times in any second."""

from __future__ import annotations

from collections import deque

WINDOW = 1.0


class RateLimit:
    """So many times in any second; 0 is no limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Seconds until it may be said again; 0 if now."""
        if not self._most or len(self._times) < self._most:
            return 0.0
        return max(self._times[0] + WINDOW - now, 0.0)

    def record(self, now: float) -> None:
        """It is said now."""
        if self._most:
            self._times.append(now)
            while len(self._times) > self._most:
                self._times.popleft()
