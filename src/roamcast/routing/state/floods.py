"""The memory of floods: nobody floods the same thing twice within a while."""

from __future__ import annotations

from roamcast.routing.state.leases import Leases


class FloodTable:
    """What was flooded lately, by number. Unlike `Seen` it forgets after a time: a later flood is news."""

    def __init__(self, duration: float, capacity: int) -> None:
        self._flooded: Leases[int, bool] = Leases(duration, capacity)

    def __len__(self) -> int:
        return len(self._flooded)

    def note(self, id: int, now: float) -> bool:
        """Remember that it is flooded; say whether that is news."""
        if self._flooded.get(id, now) is not None:
            return False
        self._flooded.sweep(now)
        self._flooded.renew(id, True, now)
        return True
