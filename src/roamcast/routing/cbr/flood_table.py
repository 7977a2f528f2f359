"""FloodTable: the events for which a node acted recently, and which of them it received in a flood."""

from __future__ import annotations

from roamcast.routing.router import Footprint
from roamcast.routing.state.leases import Leases


class FloodTable:
    """Lines 9-18 and 54-56 of figure 3: a node that only overhears an event does not enter it."""

    def __init__(self, memory: float, capacity: int, rings: bool = False) -> None:
        self._entries: Leases[int, _Handled] = Leases(memory, capacity)
        self._rings = rings
        "Whether a flood over more hops than the ones before counts as new."

    def __len__(self) -> int:
        return len(self._entries)

    def record_copy(self, id: int, flood: int, now: float) -> bool:
        """Record a copy with `flood` hops left; return whether the event was received in a flood before."""
        entry = self._entries.get(id, now)
        if entry is None:
            return False
        if entry.flooded >= (max(flood, 1) if self._rings else 1):
            return True
        entry.flooded = flood
        return False

    def enter(self, id: int, flood: int, now: float) -> None:
        """Enter an event for which this node acted; an existing lease is not renewed."""
        if self._entries.get(id, now) is None:
            self._entries.sweep(now)
            self._entries.renew(id, _Handled(flood), now)

    def mark_handled(self, id: int, now: float) -> None:
        """Mark an entered event as handled by this node.

        Line 15 must stand outside line 14, or an event entered for a flood and then handled would be handled
        again.
        """
        entry = self._entries.get(id, now)
        if entry is not None:
            entry.taken = True

    def is_handled(self, id: int, now: float) -> bool:
        """Return whether this node is known to have handled the event."""
        entry = self._entries.get(id, now)
        return entry is not None and entry.taken

    def footprint(self) -> Footprint:
        """Return the size: publication, flood flag and lease of each entry."""
        return Footprint(len(self._entries), 17 * len(self._entries), self._entries.capacity)


class _Handled:
    __slots__ = ("flooded", "taken")

    def __init__(self, flooded: int) -> None:
        self.flooded = flooded
        "Hops left of the flood in which the event was received; 0: in none."
        self.taken = False
