"""Replay protection: a sliding window over the counters of one sender."""

from __future__ import annotations

WINDOW = 1024
"Number of counters behind the highest one that are tracked; older ones are refused."

_MASK = (1 << WINDOW) - 1


class ReplayWindow:
    """The counters that were accepted from one sender: the highest, and a bit for each of those below it."""

    __slots__ = ("_bits", "highest")

    def __init__(self, floor: int = -1) -> None:
        """Refuse all counters up to `floor`."""
        self.highest = floor
        self._bits = _MASK

    def accept(self, counter: int) -> bool:
        """Note a counter; return whether it is new and not too old."""
        ahead = counter - self.highest
        if ahead == 1:
            self._bits = (self._bits << 1 | 1) & _MASK
            self.highest = counter
            return True
        if ahead > 0:
            self._bits = (self._bits << ahead | 1) & _MASK if ahead < WINDOW else 1
            self.highest = counter
            return True
        if ahead <= -WINDOW:
            return False
        bit = 1 << -ahead
        if self._bits & bit:
            return False
        self._bits |= bit
        return True

    def has(self, counter: int) -> bool:
        """Return whether `accept` would refuse the counter."""
        if counter > self.highest:
            return False
        behind = self.highest - counter
        return behind >= WINDOW or bool(self._bits >> behind & 1)
