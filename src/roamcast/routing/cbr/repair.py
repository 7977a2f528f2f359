"""The memory of repair floods (FloodTable): nobody floods the same event twice."""

from __future__ import annotations

from roamcast.routing.cbr.leases import Leases


class FloodTable:
    """Events flooded lately."""

    def __init__(self, memory: float, capacity: int) -> None:
        self._flooded: Leases[int, bool] = Leases(memory, capacity)

    def __len__(self) -> int:
        return len(self._flooded)

    def note(self, id: int, now: float) -> bool:
        """Remember that an event is flooded; say whether that is news."""
        if self._flooded.get(id, now) is not None:
            return False
        self._flooded.sweep(now)
        self._flooded.renew(id, True, now)
        return True
