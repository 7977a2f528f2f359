"""SubsTable: the subscriptions and requests of neighbours in the community (table I)."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size


class SubsTable:
    """Subscriptions and requests of neighbours; a request is removed once it is served."""

    def __init__(self, lease: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], bool] = Leases(lease, capacity)
        "By neighbour and filter; true for a subscription, false for a request for one event."

    def hear(self, child: NodeId, pattern: Filter, standing: bool, now: float) -> bool:
        """Store or renew an entry; return whether it is new."""
        self.leases.sweep(now)
        held = self.leases.get((child, pattern), now)
        self.leases.renew((child, pattern), standing or bool(held), now)
        return held is None

    def serve(self, event: Event, now: float, *, standing: bool) -> list[NodeId]:
        """Return the neighbours with a request for `event` and, with `standing`, a subscription; sorted.

        Requests that the event answers are removed.
        """
        found: dict[NodeId, None] = {}
        for (child, pattern), stays in self.leases.items(now):
            if pattern.matches(event) and (standing or not stays):
                found[child] = None
                if not stays:
                    self.leases.discard((child, pattern))
        return sorted(found)

    def patterns(self, now: float) -> list[Filter]:
        """Return the distinct filters of the table."""
        return list(dict.fromkeys(pattern for (_, pattern), _ in self.leases.items(now)))

    def lapsed(self, event: Event, now: float) -> bool:
        """Return whether an expired entry matches `event`."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))

    def footprint(self) -> Footprint:
        """Return the size: neighbour, filter and lease per entry."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(float("-inf")))
        return Footprint(len(self.leases), 13 * len(self.leases) + patterns, self.leases.capacity)
