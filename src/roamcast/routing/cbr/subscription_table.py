"""The table of subscriptions: which children want what."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId
from roamcast.routing.state.leases import Leases


class SubscriptionTable:
    """Subscriptions from neighbours (SubsTable)."""

    def __init__(self, life: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], None] = Leases(life, capacity)

    def hear(self, child: NodeId, pattern: Filter, now: float) -> bool:
        """Enter or renew a child's wish; say whether it is new."""
        return self.leases.renew((child, pattern), None, now)

    def entries(self, now: float) -> list[tuple[NodeId, Filter]]:
        """Who wants what now."""
        return [key for key, _ in self.leases.items(now)]

    def matching(self, event: Event, now: float) -> set[NodeId]:
        """The children that want `event`."""
        verdicts: dict[int, bool] = {}
        children = set()
        for (child, pattern), _ in self.leases.items(now):
            verdict = verdicts.get(id(pattern))
            if verdict is None:
                verdict = verdicts[id(pattern)] = pattern.matches(event)
            if verdict:
                children.add(child)
        return children

    def lapsed(self, event: Event, now: float) -> bool:
        """Whether someone would have wanted `event`, but for a lease that ran out lately."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))
