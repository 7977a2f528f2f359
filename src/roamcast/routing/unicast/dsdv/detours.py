"""Other ways: what each neighbour told of its routes last, for when the link to the next hop has failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from roamcast.routing.router import Footprint, Message, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.unicast.dsdv.messages import INFINITY, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram


class Detours:
    """The last full update of each neighbour."""

    def __init__(self) -> None:
        self._told: dict[NodeId, DsdvUpdate] = {}
        self._metrics: dict[NodeId, dict[NodeId, int]] = {}
        "Hops to each destination by these updates; entered when first asked for."

    def hear(self, neighbour: NodeId, update: DsdvUpdate) -> None:
        """Keep what a neighbour says if it is a full update, which begins with the speaker itself."""
        if update.entries and update.entries[0][0] == neighbour:
            self._told[neighbour] = update
            self._metrics.pop(neighbour, None)

    def forget(self, neighbour: NodeId) -> None:
        """Forget what a neighbour that is lost has told."""
        self._told.pop(neighbour, None)
        self._metrics.pop(neighbour, None)

    def footprint(self, limit: int) -> Footprint:
        """The last full update of each neighbour, of whom there are no more than `limit`."""
        return Footprint(len(self._told), sum(update.size for update in self._told.values()), limit)

    def best(
        self, destination: NodeId, neighbours: Iterable[NodeId], avoid: Collection[NodeId]
    ) -> NodeId | None:
        """Which of `neighbours`, and none of `avoid`, told of the shortest way to `destination`.

        One that has not spoken of it comes last: nobody tells of a route that has not settled.
        """
        ways = []
        for neighbour in neighbours:
            if neighbour in avoid:
                continue
            if neighbour == destination:
                return neighbour
            metric = self.metric(neighbour, destination)
            if 0 <= metric < INFINITY:
                ways.append((metric, neighbour))
        return min(ways)[1] if ways else None

    def metric(self, neighbour: NodeId, destination: NodeId) -> int:
        """Return the hops from `neighbour` to `destination` by its last full update, or INFINITY - 1."""
        metrics = self._metrics.get(neighbour)
        if metrics is None:
            update = self._told.get(neighbour)
            if update is None:
                return INFINITY - 1
            metrics = self._metrics[neighbour] = {entry[0]: entry[1] for entry in reversed(update.entries)}
        return metrics.get(destination, INFINITY - 1)


COPIES = 0.5
"Times the lease of a detour: so long a datagram that comes again is a copy that a link has made."


class TriedNextHops:
    """Of datagrams that have just gone around: the neighbours that they were sent to from here."""

    def __init__(self, lease: float, limit: int) -> None:
        self._tried: Leases[tuple[NodeId, NodeId, Message], tuple[NodeId, ...]] = Leases(lease, limit)
        self._passed: Leases[tuple[Datagram, NodeId], bool] = Leases(COPIES * lease, limit)

    def of(self, datagram: Datagram, now: float) -> tuple[NodeId, ...]:
        """The ways that a datagram, or a copy of it, has gone already."""
        return self._tried.get(_known_by(datagram), now) or ()

    def note(self, datagram: Datagram, hop: NodeId, now: float) -> None:
        """Remember that it goes by `hop` now."""
        before = self.of(datagram, now)
        self._tried.sweep(now)
        self._tried.renew(_known_by(datagram), (*before, hop), now)

    def is_copy(self, datagram: Datagram, sender: NodeId, now: float) -> bool:
        """Whether the same neighbour passed on the same, with as many hops left, a moment ago."""
        self._passed.sweep(now)
        key = (datagram, sender)
        return not self._passed.begin(key, True, now)

    def passed(self) -> Footprint:
        """Datagrams that were passed on a moment ago."""
        held = [datagram.length for (datagram, _), _ in self._passed.items(0.0)]
        return Footprint(len(held), sum(held), self._passed.capacity)

    def footprint(self) -> Footprint:
        """Datagrams and their ways."""
        held = [8 + payload.length + 4 * len(hops) for (_, _, payload), hops in self._tried.items(0.0)]
        return Footprint(len(held), sum(held), self._tried.capacity)


def _known_by(datagram: Datagram) -> tuple[NodeId, NodeId, Message]:
    """What does not change on the way."""
    return datagram.origin, datagram.destination, datagram.payload
