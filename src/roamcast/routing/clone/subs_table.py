"""SubsTable: who in the community waits for what (table I)."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size


class SubsTable:
    """Wishes of neighbours; one for a single event is gone once it is served."""

    def __init__(self, lease: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], bool] = Leases(lease, capacity)
        "Whether the wish stands until it lapses."

    def hear(self, child: NodeId, pattern: Filter, standing: bool, now: float) -> bool:
        """Enter or renew a wish; say whether it is new."""
        self.leases.sweep(now)
        held = self.leases.get((child, pattern), now)
        self.leases.renew((child, pattern), standing or bool(held), now)
        return held is None

    def serve(self, event: Event, now: float, *, standing: bool) -> list[NodeId]:
        """Who waits for `event`, in order; with `standing` those too whose wish stays."""
        found: dict[NodeId, None] = {}
        for (child, pattern), stays in self.leases.items(now):
            if pattern.matches(event) and (standing or not stays):
                found[child] = None
                if not stays:
                    self.leases.discard((child, pattern))
        return sorted(found)

    def patterns(self, now: float) -> list[Filter]:
        """What is waited for, each once."""
        return list(dict.fromkeys(pattern for (_, pattern), _ in self.leases.items(now)))

    def lapsed(self, event: Event, now: float) -> bool:
        """Whether someone would have wanted `event`, but for a lease that ran out."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))

    def footprint(self) -> Footprint:
        """Child, pattern and lease of each entry."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(float("-inf")))
        return Footprint(len(self.leases), 13 * len(self.leases) + patterns, self.leases.capacity)
