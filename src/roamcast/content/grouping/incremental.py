"""Groups that follow subscriptions as they come and go, each group under a number that it keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import count
from typing import TypeAlias

from roamcast.content.covering import MinimalCover
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover
from roamcast.content.grouping.cluster import FilterCluster
from roamcast.content.grouping.hull import hull
from roamcast.content.schema import EventType

Labelled: TypeAlias = tuple[int, tuple[Hashable, ...], Filter]
"A group's number, its members, and a filter that covers them."


class TypeGrouping(ABC):
    """A grouping of the subscriptions of one event type."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        self.type = type
        self.labels = labels
        self.k = k

    @abstractmethod
    def add(self, key: Hashable, filter: Filter) -> None:
        """A subscription arrives; its key is new."""

    @abstractmethod
    def remove(self, key: Hashable) -> None:
        """A subscription leaves."""

    def trigger(self, event: Event) -> None:  # noqa: B027 - most methods have no use for it
        """Take the event into account that sets the grouping off, if the method does."""

    @abstractmethod
    def label(self, key: Hashable) -> int:
        """The number of its group."""

    @abstractmethod
    def groups(self) -> list[Labelled]:
        """All groups."""


class IncrementalGrouping:
    """Groupings of any event types, by one method."""

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
        """A subscription arrives, or changes; one that matches nothing is in no group."""
        self.remove(key)
        if not filter.empty:
            of_type = self._types.get(filter.type)
            if of_type is None:
                of_type = self._types[filter.type] = self._method(filter.type, self._labels, self._k)
            self.filters[key] = filter
            self._cache.pop(filter.type, None)
            of_type.add(key, filter)

    def remove(self, key: Hashable) -> None:
        """A subscription leaves."""
        filter = self.filters.pop(key, None)
        if filter is not None:
            self._cache.pop(filter.type, None)
            self._types[filter.type].remove(key)

    def trigger(self, event: Event) -> None:
        """An event sets the grouping off: an input of K-means."""
        of_type = self._types.get(event.type)
        if of_type is not None:
            self._cache.pop(event.type, None)
            of_type.trigger(event)

    def label(self, key: Hashable) -> int:
        """The number of a subscription's group."""
        return self._types[self.filters[key].type].label(key)

    def groups(self, type: EventType) -> list[Labelled]:
        """The groups of a type: number, members, and a filter that covers them."""
        found = self._cache.get(type)
        if found is None:
            of_type = self._types.get(type)
            found = self._cache[type] = [] if of_type is None else of_type.groups()
        return found


def make_incremental(method: str, k: int | None = None) -> IncrementalGrouping:
    """A grouping by name."""
    return IncrementalGrouping(_METHODS[method], k)


class LeastConstrainedGrouping(TypeGrouping):
    """One group: what all ask, as loosely as any asks it."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._filters: dict[Hashable, Filter] = {}
        self._label = next(labels)
        self._hull: Filter | None = None

    def add(self, key: Hashable, filter: Filter) -> None:
        """Loosen what is asked, if need be."""
        self._filters[key] = filter
        if self._hull is not None and not self._hull.covers(filter):
            self._hull = hull([self._hull, filter])

    def remove(self, key: Hashable) -> None:
        """Ask anew what is left."""
        del self._filters[key]
        self._hull = None

    def label(self, key: Hashable) -> int:
        """The only one."""
        return self._label

    def groups(self) -> list[Labelled]:
        """The only one, if there is anybody."""
        if not self._filters:
            return []
        if self._hull is None:
            self._hull = hull(dict.fromkeys(self._filters.values()))
        return [(self._label, tuple(self._filters), self._hull)]


class GraphGrouping(TypeGrouping):
    """A group for each subscription that no other covers; whoever is below several is with the first."""

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._cover = MinimalCover()
        self._filters: dict[Hashable, Filter] = {}
        self._count: dict[Filter, int] = {}
        self._top: dict[Hashable, Filter] = {}
        self._members: dict[Filter, dict[Hashable, None]] = {}
        "The keys below each top."
        self._number: dict[Filter, int] = {}

    def add(self, key: Hashable, filter: Filter) -> None:
        """Find its top, or be one and take over those below it."""
        self._filters[key] = filter
        self._count[filter] = self._count.get(filter, 0) + 1
        if self._cover.add(filter) and filter not in self._members:
            self._members[filter] = {}
            self._number[filter] = next(self.labels)
            covered = [top for top in self._members if top is not filter and not self._cover.is_minimal(top)]
            for top in covered:
                self._dissolve(top)
        self._place(key)

    def remove(self, key: Hashable) -> None:
        """Leave; those that it alone covered stand for themselves again."""
        filter = self._filters.pop(key)
        del self._members[self._top.pop(key)][key]
        self._count[filter] -= 1
        if not self._count[filter]:
            del self._count[filter]
            self._cover.discard(filter)
            if filter in self._members:
                for each in self._cover.minimal():
                    if each not in self._members:
                        self._members[each] = {}
                        self._number[each] = next(self.labels)
                self._dissolve(filter)

    def label(self, key: Hashable) -> int:
        """That of its top."""
        return self._number[self._top[key]]

    def groups(self) -> list[Labelled]:
        """One for each top."""
        return [(self._number[top], tuple(keys), top) for top, keys in self._members.items() if keys]

    def _dissolve(self, top: Filter) -> None:
        orphans = self._members.pop(top)
        del self._number[top]
        for key in orphans:
            self._place(key)

    def _place(self, key: Hashable) -> None:
        filter = self._filters[key]
        top = filter if filter in self._members else self._cover.covering(filter)[0]
        self._top[key] = top
        self._members[top][key] = None


class BatchGrouping(TypeGrouping):
    """Any grouping from scratch, when asked for; a group keeps the number that most of its members had."""

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
        """Group anew when asked."""
        self._filters[key] = filter
        self._groups = None

    def remove(self, key: Hashable) -> None:
        """Group anew when asked."""
        del self._filters[key]
        self._label.pop(key, None)
        self._groups = None

    def label(self, key: Hashable) -> int:
        """That of its group as it is now."""
        self.groups()
        return self._label[key]

    def groups(self) -> list[Labelled]:
        """As the method has them."""
        if self._groups is None:
            keys = list(self._filters)
            taken: set[int] = set()
            found: list[Labelled] = []
            for group in self._method(list(self._filters.values()), self.k) if keys else []:
                members = tuple(keys[place] for place in group.members)
                before = [self._label[key] for key in members if key in self._label]
                wanted = max(set(before) - taken, key=before.count, default=None)
                label = next(self.labels) if wanted is None else wanted
                taken.add(label)
                found.append((label, members, group.filter))
            self._label = {key: label for label, members, _ in found for key in members}
            self._groups = found
        return self._groups


class ClusterBuilder:
    """A group under construction: its members, and a filter that covers them at every moment."""

    def __init__(self, type: EventType) -> None:
        self._type = type
        self.filters: dict[Hashable, Filter] = {}
        self._cover = BoundedCover(type)
        self._left = 0
        "Members that have gone since the filter was made."

    def add(self, key: Hashable, filter: Filter) -> None:
        """One more, covered at once."""
        self.filters[key] = filter
        self._cover.add(filter)

    def remove(self, key: Hashable) -> None:
        """One less; the filter stays as loose as it is until a quarter have gone."""
        del self.filters[key]
        self._left += 1

    def filter(self) -> Filter:
        """What covers the members."""
        if 4 * self._left > len(self.filters):
            self._cover = BoundedCover(self._type)
            self._left = 0
            for each in dict.fromkeys(self.filters.values()):
                self._cover.add(each)
        return self._cover.filter


def _kmeans(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.kmeans import KMeans

    return KMeans(type, labels, k)


def _signature(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.partition import SignaturePartition

    return SignaturePartition(type, labels, k)


def _agglomerative(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.hierarchy import agglomerative_groups

    return BatchGrouping(type, labels, k, agglomerative_groups)


def _divisive(type: EventType, labels: Iterator[int], k: int | None) -> TypeGrouping:
    from roamcast.content.grouping.hierarchy import divisive_groups

    return BatchGrouping(type, labels, k, divisive_groups)


_METHODS: dict[str, Callable[[EventType, Iterator[int], int | None], TypeGrouping]] = {
    "least": LeastConstrainedGrouping,
    "graph": GraphGrouping,
    "kmeans": _kmeans,
    "agglomerative": _agglomerative,
    "divisive": _divisive,
    "signature": _signature,
}
METHODS = tuple(_METHODS)
"The groupings by name."
