"""Sequence numbers and metrics of DSDV's routes, to find the entries of an update that change one.

In a settled network most entries are known already. Without the compiled kernel a dict finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.dsdv.messages import HALF, HIGHEST_SEQUENCE


class PlainKnownRoutes:
    """Sequence number and metric by destination."""

    __slots__ = ("_infinity", "_known")

    def __init__(self, infinity: int) -> None:
        self._infinity = infinity
        self._known: dict[NodeId, tuple[int, int]] = {}

    def set(self, destination: NodeId, sequence: int, metric: int) -> None:
        """Record a route."""
        self._known[destination] = (sequence, metric)

    def discard(self, destination: NodeId) -> None:
        """Remove the route to a destination."""
        self._known.pop(destination, None)

    def news(self, entries: tuple[tuple[NodeId, int, int], ...]) -> list[tuple[NodeId, int, int]]:
        """Return the entries (destination, metric, sequence number) that may change the table.

        The destination or the sequence number is new, the route is shorter by the same number, or a working
        route is reported as broken; or an earlier entry for the same destination is one of these.
        """
        found = []
        changed = set()
        find, infinity = self._known.get, self._infinity
        for entry in entries:
            held = find(entry[0])
            if held is not None:
                known, length = held
                sequence = entry[2]
                if sequence == known:
                    old = entry[1] + 1 >= length
                else:
                    older = (sequence - known) & HIGHEST_SEQUENCE >= HALF
                    old = older and not entry[1] >= infinity > length
                if old and entry[0] not in changed:
                    continue
            changed.add(entry[0])
            found.append(entry)
        return found

    def __len__(self) -> int:
        return len(self._known)


if TYPE_CHECKING:
    from roamcast._kernel import KnownRoutes
else:
    try:
        from roamcast._kernel import KnownRoutes
    except ImportError:
        KnownRoutes = PlainKnownRoutes

__all__ = ["KnownRoutes", "PlainKnownRoutes"]
