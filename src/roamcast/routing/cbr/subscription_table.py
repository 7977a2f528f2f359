"""The table of subscriptions: which children want what."""

from __future__ import annotations

from math import inf

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size

MANY = 16
"With more patterns than that the match index is quicker than asking each; with half as many it goes again."


class SubscriptionTable:
    """Subscriptions from neighbours (SubsTable)."""

    def __init__(self, life: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], bool] = Leases(life, capacity)
        self._children: dict[Filter, dict[NodeId, None]] = {}
        "Whoever has asked for a pattern; leases that have gone since are cleared away in bulk."
        self._pairs = 0
        self._index: MatchIndex[Filter] | None = None

    def hear(self, child: NodeId, pattern: Filter, now: float) -> bool:
        """Enter or renew a child's wish; say whether it is new."""
        new = self.leases.renew((child, pattern), True, now)
        if new:
            children = self._children.get(pattern)
            if children is None:
                children = self._children[pattern] = {}
                self._enter(pattern)
            if child not in children:
                children[child] = None
                self._pairs += 1
                if self._pairs > 2 * self.leases.capacity:
                    self._clear_away()
        return new

    def entries(self, now: float) -> list[tuple[NodeId, Filter]]:
        """Who wants what now."""
        return [key for key, _ in self.leases.items(now)]

    def matching(self, event: Event, now: float) -> set[NodeId]:
        """The children that want `event`."""
        if self._index is None:
            wanted = [(p, children) for p, children in self._children.items() if p.matches(event)]
        else:
            wanted = [(p, self._children[p]) for p in self._index.match(event)]
        wanting: set[NodeId] = set()
        for pattern, children in wanted:
            for child in children:
                if child not in wanting and self.leases.get((child, pattern), now):
                    wanting.add(child)
        return wanting

    def lapsed(self, event: Event, now: float) -> bool:
        """Whether someone would have wanted `event`, but for a lease that ran out lately."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))

    def sweep(self, now: float) -> None:
        """Forget what lapsed at or before `now`."""
        self.leases.sweep(now)
        if self._pairs > len(self.leases):
            self._clear_away()

    def footprint(self) -> Footprint:
        """Child, pattern and lease of each entry."""
        patterns = sum(filter_size(pattern) for (_, pattern), _ in self.leases.items(-inf))
        return Footprint(len(self.leases), 12 * len(self.leases) + patterns, self.leases.capacity)

    def _enter(self, pattern: Filter) -> None:
        if self._index is not None:
            self._index.add(pattern, pattern)
        elif len(self._children) > MANY:
            self._index = MatchIndex()
            for each in self._children:
                self._index.add(each, each)

    def _clear_away(self) -> None:
        before, self._children = self._children, {}
        for (child, pattern), _ in self.leases.items(-inf):
            self._children.setdefault(pattern, {})[child] = None
        self._pairs = len(self.leases)
        if len(self._children) <= MANY // 2:
            self._index = None
        elif self._index is not None:
            for pattern in before:
                if pattern not in self._children:
                    self._index.remove(pattern)
