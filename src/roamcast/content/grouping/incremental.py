"""Clusterings that follow additions and removals of subscriptions, with stable cluster numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

from roamcast.content.covering import MinimalCover
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover
from roamcast.content.grouping.cluster import FilterCluster
from roamcast.content.grouping.hull import hull
from roamcast.content.schema import EventType

Labelled: TypeAlias = tuple[int, tuple[Hashable, ...], Filter]
"A cluster's number, its members, and a filter that covers them."


class TypeGrouping(ABC):
    """A clustering of the subscriptions of one event type."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        self.type = type
        self.labels = labels
        self.k = k

    @abstractmethod
    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a subscription with a new key."""

    @abstractmethod
    def remove(self, key: Hashable) -> None:
        """Remove a subscription."""

    def trigger(self, event: Event) -> None:  # noqa: B027 - most methods have no use for it
        """Account for the event that triggers the clustering, if the method uses it."""

    @abstractmethod
    def label(self, key: Hashable) -> int:
        """Return the number of the cluster of `key`."""

    @abstractmethod
    def groups(self) -> list[Labelled]:
        """Return all clusters."""


class IncrementalGrouping:
    """Clusterings of any event types by one method."""

    def __init__(
        self, method: Callable[[EventType, Iterator[int], int | None], TypeGrouping], k: int | None
    ) -> None:
        self._method = method
        self._k = k
        self._labels = count()
        self._types: dict[EventType, TypeGrouping] = {}
        self.filters: dict[Hashable, Filter] = {}
        self._cache: dict[EventType, list[Labelled]] = {}

    def __len__(self) -> int:
        return sum(len(self.groups(type)) for type in self._types)

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add or replace a subscription; one that matches nothing is in no cluster."""
        self.remove(key)
        if not filter.empty:
            of_type = self._types.get(filter.type)
            if of_type is None:
                of_type = self._types[filter.type] = self._method(filter.type, self._labels, self._k)
            self.filters[key] = filter
            self._cache.pop(filter.type, None)
            of_type.add(key, filter)

    def remove(self, key: Hashable) -> None:
        """Remove a subscription if it exists."""
        filter = self.filters.pop(key, None)
        if filter is not None:
            self._cache.pop(filter.type, None)
            self._types[filter.type].remove(key)

    def trigger(self, event: Event) -> None:
        """Account for the event that triggers the clustering, which K-means uses."""
        of_type = self._types.get(event.type)
        if of_type is not None:
            self._cache.pop(event.type, None)
            of_type.trigger(event)

    def label(self, key: Hashable) -> int:
        """Return the number of a subscription's cluster."""
        return self._types[self.filters[key].type].label(key)

    def groups(self, type: EventType) -> list[Labelled]:
        """Return the clusters of a type: number, members, and a filter that covers them."""
        found = self._cache.get(type)
        if found is None:
            of_type = self._types.get(type)
            found = self._cache[type] = [] if of_type is None else of_type.groups()
        return found


def make_incremental(method: str, k: int | None = None) -> IncrementalGrouping:
    """Return an empty clustering by the named method."""
    return IncrementalGrouping(METHODS[method], k)


class LeastConstrainedGrouping(TypeGrouping):
    """One cluster, whose filter has the constraints common to all subscriptions."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._filters: dict[Hashable, Filter] = {}
        self._label = next(labels)
        self._hull: Filter | None = None

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a subscription; widen the filter if it does not cover it."""
        self._filters[key] = filter
        if self._hull is not None and not self._hull.covers(filter):
            self._hull = hull([self._hull, filter])

    def remove(self, key: Hashable) -> None:
        """Remove a subscription; the filter is recomputed at the next call of `groups`."""
        del self._filters[key]
        self._hull = None

    def label(self, key: Hashable) -> int:
        """Return the number of the only cluster."""
        return self._label

    def groups(self) -> list[Labelled]:
        """Return the only cluster, or no cluster without subscriptions."""
        if not self._filters:
            return []
        if self._hull is None:
            self._hull = hull(dict.fromkeys(self._filters.values()))
        return [(self._label, tuple(self._filters), self._hull)]


class TopCluster(NamedTuple):
    """The cluster of a subscription that no other covers."""

    number: int
    keys: dict[Hashable, None]


class GraphGrouping(TypeGrouping):
    """One cluster per subscription that no other covers; a subscription below several is in the first."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._cover = MinimalCover()
        self._filters: dict[Hashable, Filter] = {}
        self._count: dict[Filter, int] = {}
        self._top: dict[Hashable, Filter] = {}
        self._tops: dict[Filter, TopCluster] = {}

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add the subscription to its top, or make it a top and move the subscriptions that it covers."""
        self._filters[key] = filter
        self._count[filter] = self._count.get(filter, 0) + 1
        if self._cover.add(filter) and filter not in self._tops:
            self._tops[filter] = TopCluster(next(self.labels), {})
            covered = [top for top in self._tops if top is not filter and not self._cover.is_minimal(top)]
            for top in covered:
                self._dissolve(top)
        self._place(key)

    def remove(self, key: Hashable) -> None:
        """Remove the subscription; the subscriptions that only it covered become tops."""
        filter = self._filters.pop(key)
        del self._tops[self._top.pop(key)].keys[key]
        self._count[filter] -= 1
        if not self._count[filter]:
            del self._count[filter]
            self._cover.discard(filter)
            if filter in self._tops:
                for each in self._cover.minimal():
                    if each not in self._tops:
                        self._tops[each] = TopCluster(next(self.labels), {})
                self._dissolve(filter)

    def label(self, key: Hashable) -> int:
        """Return the number of the cluster of its top."""
        return self._tops[self._top[key]].number

    def groups(self) -> list[Labelled]:
        """Return one cluster per top."""
        return [(number, tuple(keys), top) for top, (number, keys) in self._tops.items() if keys]

    def _dissolve(self, top: Filter) -> None:
        for key in self._tops.pop(top).keys:
            self._place(key)

    def _place(self, key: Hashable) -> None:
        filter = self._filters[key]
        top = filter if filter in self._tops else self._cover.covering(filter)[0]
        self._top[key] = top
        self._tops[top].keys[key] = None


class BatchGrouping(TypeGrouping):
    """Any batch clustering, recomputed on demand; a cluster keeps the number that most of its members had."""

    def __init__(
        self,
        type: EventType,
        labels: Iterator[int],
        k: int | None,
        method: Callable[[Sequence[Filter], int | None], list[FilterCluster]],
    ) -> None:
        super().__init__(type, labels, k)
        self._method = method
        self._filters: dict[Hashable, Filter] = {}
        self._label: dict[Hashable, int] = {}
        self._groups: list[Labelled] | None = []

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a subscription; the clustering is recomputed when it is next needed."""
        self._filters[key] = filter
        self._groups = None

    def remove(self, key: Hashable) -> None:
        """Remove a subscription; the clustering is recomputed when it is next needed."""
        del self._filters[key]
        self._label.pop(key, None)
        self._groups = None

    def label(self, key: Hashable) -> int:
        """Return the number of the current cluster of `key`."""
        self.groups()
        return self._label[key]

    def groups(self) -> list[Labelled]:
        """Return the clusters of the batch method."""
        if self._groups is None:
            keys = list(self._filters)
            taken: set[int] = set()
            found: list[Labelled] = []
            for group in self._method(list(self._filters.values()), self.k) if keys else []:
                members = tuple(keys[place] for place in group.members)
                before = [self._label[key] for key in members if key in self._label]
                kept_label = max(set(before) - taken, key=before.count, default=None)
                label = next(self.labels) if kept_label is None else kept_label
                taken.add(label)
                found.append((label, members, group.filter))
            self._label = {key: label for label, members, _ in found for key in members}
            self._groups = found
        return self._groups


class ClusterBuilder:
    """A cluster under construction: its members, and a filter that always covers them."""

    def __init__(self, type: EventType) -> None:
        self._type = type
        self.filters: dict[Hashable, Filter] = {}
        self._cover = BoundedCover(type)
        self._left = 0
        "Number of members removed since the filter was computed."

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a member and cover it."""
        self.filters[key] = filter
        self._cover.add(filter)

    def remove(self, key: Hashable) -> None:
        """Remove a member; the filter is recomputed only after a quarter of the members was removed."""
        del self.filters[key]
        self._left += 1

    def filter(self) -> Filter:
        """Return a filter that covers the members."""
        if 4 * self._left > len(self.filters):
            self._cover = BoundedCover(self._type)
            self._left = 0
            for each in dict.fromkeys(self.filters.values()):
                self._cover.add(each)
        return self._cover.filter


class SingleGrouping(TypeGrouping):
    """One cluster of all subscriptions; an event belongs to it if it matches the filter that covers them."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._cluster = ClusterBuilder(type)
        self._label = next(labels)

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add the subscription to the cluster."""
        self._cluster.add(key, filter)

    def remove(self, key: Hashable) -> None:
        """Remove the subscription from the cluster."""
        self._cluster.remove(key)

    def label(self, key: Hashable) -> int:
        """Return the number of the only cluster."""
        return self._label

    def groups(self) -> list[Labelled]:
        """Return the only cluster, or no cluster without subscriptions."""
        members = tuple(self._cluster.filters)
        return [(self._label, members, self._cluster.filter())] if members else []


def _kmeans(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.kmeans import KMeans

    return KMeans(type, labels, k)


def _average_kmeans(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.kmeans import AverageKMeans

    return AverageKMeans(type, labels, k)


def _signature(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.partition import SignaturePartition

    return SignaturePartition(type, labels, k)


def _agglomerative(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.hierarchy import agglomerative_groups

    return BatchGrouping(type, labels, k, agglomerative_groups)


def _divisive(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.hierarchy import divisive_groups

    return BatchGrouping(type, labels, k, divisive_groups)


METHODS: dict[str, Callable[[EventType, Iterator[int], int | None], TypeGrouping]] = {
    "least": LeastConstrainedGrouping,
    "graph": GraphGrouping,
    "single": SingleGrouping,
    "kmeans": _kmeans,
    "kmeans-average": _average_kmeans,
    "agglomerative": _agglomerative,
    "divisive": _divisive,
    "signature": _signature,
}
"The clustering methods by name."
