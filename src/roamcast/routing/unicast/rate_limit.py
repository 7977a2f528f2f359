"""A rate limit for messages."""

from __future__ import annotations

from collections import deque

WINDOW = 1.0


class RateLimit:
    """At most a given number of messages in any interval of one second; 0 is no limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Return the time until the next message is allowed [s]; 0 if it is allowed now."""
        if not self._most or len(self._times) < self._most:
            return 0.0
        return max(self._times[0] + WINDOW - now, 0.0)

    def record(self, now: float) -> None:
        """Record a message that is sent now."""
        if self._most:
            self._times.append(now)
            while len(self._times) > self._most:
                self._times.popleft()
