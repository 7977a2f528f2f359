"""Replay protection: a sliding window over the counters of one sender.

`ReplayWindow` is compiled; without the kernel it is `PlainReplayWindow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["WINDOW", "PlainReplayWindow", "ReplayWindow"]

WINDOW = 1024
"Number of counters behind the highest one that are tracked; older ones are refused."

_MASK = WINDOW - 1


class PlainReplayWindow:
    """The counters that were accepted from one sender: the highest, and a flag for each of those below it."""

    __slots__ = ("_accepted", "highest")

    def __init__(self, floor: int = -1) -> None:
        """Refuse all counters up to `floor`."""
        self.highest = floor
        self._accepted = bytearray(b"\x01" * WINDOW)
        "A ring: the flag of a counter is at the counter modulo `WINDOW`."

    def accept(self, counter: int) -> bool:
        """Note a counter; return whether it is new and not too old."""
        ahead = counter - self.highest
        accepted = self._accepted
        if ahead > 0:
            if ahead >= WINDOW:
                self._accepted = accepted = bytearray(WINDOW)
            elif ahead > 1:
                for skipped in range(self.highest + 1, counter):
                    accepted[skipped & _MASK] = 0
            self.highest = counter
        elif ahead <= -WINDOW or accepted[counter & _MASK]:
            return False
        accepted[counter & _MASK] = 1
        return True

    def has(self, counter: int) -> bool:
        """Return whether `accept` would refuse the counter."""
        if counter > self.highest:
            return False
        behind = self.highest - counter
        return behind >= WINDOW or bool(self._accepted[counter & _MASK])


if TYPE_CHECKING:
    from roamcast._kernel import ReplayWindow
else:
    try:
        from roamcast._kernel import ReplayWindow
    except ImportError:
        ReplayWindow = PlainReplayWindow
