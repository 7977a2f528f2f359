"""Subscription table: the subscriptions of each child, and the subscribers that they name."""

from __future__ import annotations

from math import inf

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size

MANY = 16
"With more filters than this a match index replaces linear matching; it is removed again at half as many."


class SubscriptionTable:
    """Leases of the subscriptions received from neighbours (SubsTable)."""

    def __init__(self, life: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter], bool] = Leases(life, capacity)
        self._children: dict[Filter, dict[NodeId, None]] = {}
        "Filter -> children that subscribed to it; entries of expired leases are removed in bulk."
        self._pairs = 0
        self._index: MatchIndex[Filter] | None = None

    def hear(self, child: NodeId, pattern: Filter, now: float) -> bool:
        """Add or renew a child's subscription; return whether it is new."""
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
        """Return (child, filter) of all valid subscriptions."""
        return [key for key, _ in self.leases.items(now)]

    def matching(self, event: Event, now: float) -> set[NodeId]:
        """Return the children with a valid subscription that matches `event`."""
        if self._index is None:
            matching = [(p, children) for p, children in self._children.items() if p.matches(event)]
        else:
            matching = [(p, self._children[p]) for p in self._index.match(event)]
        subscribed: set[NodeId] = set()
        for pattern, children in matching:
            for child in children:
                if child not in subscribed and self.leases.get((child, pattern), now):
                    subscribed.add(child)
        return subscribed

    def lapsed(self, event: Event, now: float) -> bool:
        """Return whether a recently expired subscription matches `event`."""
        return any(pattern.matches(event) for (_, pattern), _ in self.leases.lapsed(now))

    def sweep(self, now: float) -> None:
        """Remove all subscriptions that expired at or before `now`."""
        self.leases.sweep(now)
        if self._pairs > len(self.leases):
            self._clear_away()

    def footprint(self) -> Footprint:
        """Return the size: child, filter and lease of each entry."""
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


class NamedSubscribers:
    """Leases of the subscribers named by the subscriptions of each child (`s.sbr` of table 2)."""

    def __init__(self, life: float, capacity: int) -> None:
        self.leases: Leases[tuple[NodeId, Filter, NodeId], bool] = Leases(life, capacity)

    def hear(self, child: NodeId, pattern: Filter, subscriber: NodeId, now: float) -> bool:
        """Add or renew a subscriber; return whether it is new."""
        self.leases.sweep(now)
        return self.leases.renew((child, pattern, subscriber), True, now)

    def entries(self, now: float) -> list[tuple[NodeId, Filter, NodeId]]:
        """Return (child, filter, subscriber) of all valid leases."""
        return [key for key, _ in self.leases.items(now)]

    def footprint(self) -> Footprint:
        """Return the size: child, subscriber, lease and a reference to the filter of each entry."""
        held = sum(1 for _ in self.leases.items(-inf))
        return Footprint(held, 20 * held, self.leases.capacity)
