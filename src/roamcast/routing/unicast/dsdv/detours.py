"""Alternative next hops of DSDV, from the last updates of neighbours, for use after link failures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from roamcast.routing.router import Footprint, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.dsdv.messages import INFINITY, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram

UNREPORTED = INFINITY - 1
"Hops to a destination that a neighbour has not reported."


class Detours:
    """The last full update of each neighbour."""

    def __init__(self) -> None:
        self._updates: dict[NodeId, DsdvUpdate] = {}
        self._metrics: dict[NodeId, dict[NodeId, int]] = {}
        "Hops to each destination by these updates; computed on first use."

    def hear(self, neighbour: NodeId, update: DsdvUpdate) -> None:
        """Store a neighbour's update if it is a full one: those begin with the neighbour's own entry."""
        if update.entries and update.entries[0][0] == neighbour:
            self._updates[neighbour] = update
            self._metrics.pop(neighbour, None)

    def forget(self, neighbour: NodeId) -> None:
        """Remove the update of a lost neighbour."""
        self._updates.pop(neighbour, None)
        self._metrics.pop(neighbour, None)

    def footprint(self, limit: int) -> Footprint:
        """Return the size of the stored updates; there are at most `limit` neighbours."""
        return Footprint(len(self._updates), sum(update.size for update in self._updates.values()), limit)

    def best(
        self, destination: NodeId, neighbours: Iterable[NodeId], avoid: Collection[NodeId]
    ) -> NodeId | None:
        """Return the neighbour outside `avoid` that reported the shortest route to `destination`.

        A neighbour without a report comes last, since unsettled routes are not reported.
        """
        candidates = []
        for neighbour in neighbours:
            if neighbour in avoid:
                continue
            if neighbour == destination:
                return neighbour
            metric = self.metrics(neighbour).get(destination, UNREPORTED)
            if 0 <= metric < INFINITY:
                candidates.append((metric, neighbour))
        return min(candidates)[1] if candidates else None

    def metrics(self, neighbour: NodeId) -> Mapping[NodeId, int]:
        """Return the hops from `neighbour` to each destination of its last full update."""
        metrics = self._metrics.get(neighbour)
        if metrics is None:
            update = self._updates.get(neighbour)
            if update is None:
                return {}
            metrics = self._metrics[neighbour] = {entry[0]: entry[1] for entry in reversed(update.entries)}
        return metrics


COPIES = 0.5
"Fraction of a detour's lease in which an equal datagram counts as a duplicate made by the link."


class TriedNextHops:
    """The neighbours to which recently detoured datagrams were sent from this node."""

    def __init__(self, lease: float, limit: int) -> None:
        self._tried: Leases[tuple[NodeId, NodeId, Message], tuple[NodeId, ...]] = Leases(lease, limit)
        self._passed: Leases[tuple[Datagram, NodeId], bool] = Leases(COPIES * lease, limit)

    def of(self, datagram: Datagram, now: float) -> tuple[NodeId, ...]:
        """Return the next hops by which a datagram, or a duplicate of it, was sent."""
        return self._tried.get(_known_by(datagram), now) or ()

    def note(self, datagram: Datagram, hop: NodeId, now: float) -> None:
        """Record that a datagram is sent to `hop`."""
        before = self.of(datagram, now)
        self._tried.sweep(now)
        self._tried.renew(_known_by(datagram), (*before, hop), now)

    def is_copy(self, datagram: Datagram, sender: NodeId, now: float) -> bool:
        """Return whether the same neighbour sent the same datagram, with equal hops left, a moment ago."""
        self._passed.sweep(now)
        key = (datagram, sender)
        return not self._passed.begin(key, True, now)

    def passed(self) -> Footprint:
        """Return the size of the table of recently forwarded datagrams."""
        held = [datagram.length for (datagram, _), _ in self._passed.items(0.0)]
        return Footprint(len(held), sum(held), self._passed.capacity)

    def footprint(self) -> Footprint:
        """Return the size of the table of detours."""
        held = [8 + payload.length + 4 * len(hops) for (_, _, payload), hops in self._tried.items(0.0)]
        return Footprint(len(held), sum(held), self._tried.capacity)


def _known_by(datagram: Datagram) -> tuple[NodeId, NodeId, Message]:
    """Return the part of a datagram that does not change on its path."""
    return datagram.origin, datagram.destination, datagram.payload
