"""K-means grouping, with splitting and combining as subscriptions come and go."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.features import Matrix, cluster_count, distances, vectors
from roamcast.content.grouping.group import Group, by_type, point
from roamcast.content.grouping.hull import union

Labels = npt.NDArray[np.int64]


def kmeans_groups(
    filters: Sequence[Filter], k: int | None = None, event: Event | None = None, seed: int = 0
) -> list[Group]:
    """K channels for each event type (K: the papers', unless given).

    The event that set off the grouping, if given, is clustered with the subscriptions and draws those
    about it together, but is no member.
    """
    groups = []
    for type, places in by_type(filters).items():
        chosen = [filters[p] for p in places]
        points = [*chosen, point(event)] if event is not None and event.type is type else chosen
        labels = _cluster(vectors(points), k or cluster_count(chosen), seed)
        groups.extend(to_groups(filters, places, labels))
    return groups


def to_groups(
    filters: Sequence[Filter], places: Sequence[int], labels: Sequence[int] | Labels
) -> list[Group]:
    """A group for each label among `places`, in the order of their first members."""
    members: dict[int, list[int]] = {}
    for place, label in zip(places, labels, strict=False):
        members.setdefault(int(label), []).append(place)
    return [Group(tuple(found), union([filters[p] for p in found])) for found in members.values()]


def _cluster(points: Matrix, k: int, seed: int) -> Labels:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    distinct = len(np.unique(points, axis=0))
    # One thread: sums in one order give the same groups on every machine, and small sets are quicker so.
    with threadpool_limits(1):
        fitted = KMeans(min(k, distinct), n_init=5, random_state=seed).fit(points)
    return np.asarray(fitted.labels_, dtype=np.int64)


class KMeansGroups:
    """Groups of one event type that follow its subscriptions.

    A change runs a few re-balancing rounds from where the centroids are. If the papers' K has grown, the
    widest group is split at its two farthest members; if it has shrunk, the two nearest are combined.
    """

    def __init__(self, rounds: int = 3) -> None:
        self.rounds = rounds
        self.filters: dict[Hashable, Filter] = {}
        self._label: dict[Hashable, int] = {}

    def add(self, key: Hashable, filter: Filter) -> None:
        """A subscription arrives, or changes."""
        self.filters[key] = filter
        self._label.pop(key, None)
        self._follow()

    def remove(self, key: Hashable) -> None:
        """A subscription leaves."""
        self.filters.pop(key, None)
        self._label.pop(key, None)
        self._follow()

    def groups(self) -> list[tuple[tuple[Hashable, ...], Filter]]:
        """The members of each group and its filter."""
        keys = [key for key in self.filters if key in self._label]
        found = to_groups([self.filters[k] for k in keys], range(len(keys)), [self._label[k] for k in keys])
        return [(tuple(keys[n] for n in group.members), group.filter) for group in found]

    def _follow(self) -> None:
        keys = [key for key, filter in self.filters.items() if not filter.empty]
        if not keys:
            self._label.clear()
            return
        filters = [self.filters[key] for key in keys]
        points = vectors(filters)
        labels = np.array([self._label.get(key, -1) for key in keys])
        if (labels < 0).all():
            labels[:] = 0
        for _ in range(self.rounds):
            labels = _assign(points, labels)
        wanted = min(cluster_count(filters), len(np.unique(points, axis=0)))
        while len(set(labels.tolist())) < wanted:
            labels = _assign(points, _split(points, labels))
        while len(set(labels.tolist())) > wanted:
            labels = _combine(points, labels)
        self._label = dict(zip(keys, labels.tolist(), strict=True))


def _centroids(points: Matrix, labels: Any) -> tuple[list[int], Matrix]:
    names = sorted(set(labels.tolist()) - {-1})
    return names, np.array([points[labels == name].mean(axis=0) for name in names])


def _assign(points: Matrix, labels: Any) -> Any:
    """Everyone to the nearest centroid; no group is left empty."""
    names, centroids = _centroids(points, labels)
    nearest = np.array([names[n] for n in distances(points, centroids).argmin(axis=1)])
    for name in names:
        if not (nearest == name).any():
            return np.where(labels < 0, nearest, labels)
    return nearest


def _split(points: Matrix, labels: Any) -> Any:
    """Cut the widest group at its two farthest members."""
    names, centroids = _centroids(points, labels)
    width = [
        np.linalg.norm(points[labels == n] - c, axis=1).mean() for n, c in zip(names, centroids, strict=True)
    ]
    inside = np.flatnonzero(labels == names[int(np.argmax(width))])
    halves = divide(points[inside])
    changed = labels.copy()
    changed[inside[halves]] = max(names) + 1
    return changed


def _combine(points: Matrix, labels: Any) -> Any:
    """Join the two groups whose centroids are nearest."""
    names, centroids = _centroids(points, labels)
    apart = distances(centroids, centroids)
    np.fill_diagonal(apart, np.inf)
    one, other = np.unravel_index(int(apart.argmin()), apart.shape)
    return np.where(labels == names[int(other)], names[int(one)], labels)


def divide(points: Matrix) -> npt.NDArray[np.bool_]:
    """Which points go with the second of the two that lie farthest apart."""
    apart = distances(points, points)
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return np.asarray(apart[:, int(other)] < apart[:, int(one)])
