"""K-means clustering, which splits and combines clusters as subscriptions are added and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from roamcast.content.box.conjunction import fields_of
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover
from roamcast.content.grouping.cluster import FilterCluster, by_type, point
from roamcast.content.grouping.embedding import Embedding
from roamcast.content.grouping.features import Matrix, cluster_count, distances, vectors
from roamcast.content.grouping.incremental import ClusterBuilder, Labelled, TypeGrouping
from roamcast.content.schema import EventType

Labels = npt.NDArray[np.int64]

REBALANCED = 32
"Number of subscriptions reassigned per change, in rotation: the paper's re-balancing in small steps."
LEAST_GAIN = 1e-9
"A smaller decrease of the papers' metric is taken for rounding, so that reassignment ends."


def kmeans_groups(
    filters: Sequence[Filter], k: int | None = None, event: Event | None = None, seed: int = 0
) -> list[FilterCluster]:
    """Return K clusters per event type (K as in the papers, unless given).

    The event that triggers the clustering, if given, is clustered with the subscriptions and attracts similar
    ones, but is not a member.
    """
    groups = []
    for type, places in by_type(filters).items():
        chosen = [filters[p] for p in places]
        points = chosen
        if event is not None and event.type is type:
            used = {place for each in chosen for box in each.conjunctions for place, _ in fields_of(box)}
            points = [*chosen, about(event, used)]
        labels = _cluster(vectors(points), k or cluster_count(chosen), seed)
        groups.extend(to_groups(filters, places, labels))
    return groups


def about(event: Event, used: Collection[int]) -> Filter:
    """Return the event as a point over the used fields only; otherwise it would be far from all
    subscriptions.
    """
    [box] = point(event).conjunctions
    return Filter.of(event.type, [[(place, domain) for place, domain in box if place in used]])


def to_groups(
    filters: Sequence[Filter], places: Sequence[int], labels: Sequence[int] | Labels
) -> list[FilterCluster]:
    """Return one cluster per label among `places`, in the order of their first members."""
    members: dict[int, list[int]] = {}
    for place, label in zip(places, labels, strict=False):
        members.setdefault(int(label), []).append(place)
    return [
        FilterCluster(tuple(found), BoundedCover.of([filters[p] for p in found]))
        for found in members.values()
    ]


def _cluster(points: Matrix, k: int, seed: int) -> Labels:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    distinct = len(np.unique(points, axis=0))
    # With one thread, sums have a fixed order and give the same clusters everywhere; small sets are faster
    # too.
    with threadpool_limits(1):
        fitted = KMeans(min(k, distinct), n_init=5, random_state=seed).fit(points)
    return np.asarray(fitted.labels_, dtype=np.int64)


class KMeans(TypeGrouping):
    """K clusters that follow additions and removals of subscriptions.

    A new subscription joins the cluster with the nearest centroid, and some others are reassigned in
    rotation. If the papers' K has grown, the widest cluster is split at two distant members; if K has shrunk,
    the two nearest clusters are combined. The cost of an addition depends on K, not on the number of
    subscriptions. The event that triggers the clustering is an additional point that attracts a centroid.
    """

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._points = Embedding(type)
        self._keys: dict[int, Hashable] = {}
        "By row."
        self._row: dict[Hashable, int] = {}
        self._filters: dict[Hashable, Filter] = {}
        self._of: dict[Hashable, int] = {}
        "Number of each subscription's cluster."
        self._members: dict[int, ClusterBuilder] = {}
        self._sums: dict[int, npt.NDArray[np.float64]] = {}
        self._sized = -1
        "Scale of the embedding when the sums were computed."
        self._used: Counter[int] = Counter()
        self._distinct: Counter[Any] = Counter()
        self._turn = 0
        self._event: Event | None = None
        "The triggering event: a point like the others, but not a member."

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a subscription to the cluster with the nearest centroid."""
        row = self._points.add(filter)
        self._keys[row], self._row[key], self._filters[key] = key, row, filter
        self._used.update({place for box in filter.conjunctions for place, _ in fields_of(box)})
        self._distinct[filter.conjunctions] += 1
        self._refresh()
        if not self._members:
            self._open()
        label = self._nearest([row])[0]
        self._enter(key, label)
        self._rebalance()
        self._resize()

    def trigger(self, event: Event) -> None:
        """Replace the triggering event and reassign some subscriptions."""
        if event != self._event:
            self._event = event
            self._rebalance()

    def remove(self, key: Hashable) -> None:
        """Remove a subscription from its cluster."""
        filter = self._filters[key]
        self._leave(key)
        row = self._row.pop(key)
        self._points.remove(row)
        del self._keys[row], self._filters[key]
        self._used.subtract({place for box in filter.conjunctions for place, _ in fields_of(box)})
        self._used += Counter()
        self._distinct[filter.conjunctions] -= 1
        if not self._distinct[filter.conjunctions]:
            del self._distinct[filter.conjunctions]
        self._rebalance()
        self._resize()

    def label(self, key: Hashable) -> int:
        """Return the number of the cluster of `key`."""
        return self._of[key]

    def groups(self) -> list[Labelled]:
        """Return all clusters."""
        return [(label, tuple(m.filters), m.filter()) for label, m in self._members.items()]

    def _open(self) -> int:
        label = next(self.labels)
        self._members[label] = ClusterBuilder(self.type)
        self._sums[label] = np.zeros(self._points.width)
        return label

    def _enter(self, key: Hashable, label: int) -> None:
        self._of[key] = label
        self._members[label].add(key, self._filters[key])
        self._sums[label] = self._sums[label] + self._points.rows[self._row[key]]

    def _leave(self, key: Hashable) -> None:
        label = self._of.pop(key)
        self._members[label].remove(key)
        self._sums[label] = self._sums[label] - self._points.rows[self._row[key]]
        if not self._members[label].filters:
            del self._members[label], self._sums[label]

    def _refresh(self) -> None:
        """Recompute the sums if the scale of a field has changed, which becomes rarer with time."""
        if self._sized != self._points.scale:
            self._sized = self._points.scale
            for label, members in self._members.items():
                rows = [self._row[key] for key in members.filters]
                self._sums[label] = self._points.rows[rows].sum(axis=0)

    def _centroids(self) -> tuple[list[int], Matrix]:
        """Return the clusters and their centroids; the event counts as a point of the nearest."""
        labels = list(self._members)
        sums = np.array([self._sums[label] for label in labels])
        counts = np.array([max(1, len(self._members[label].filters)) for label in labels])
        if self._event is not None and labels:
            point = self._points.embed(about(self._event, self._used))
            apart = self._points.distances(point[None, :], sums / counts[:, None])[0]
            nearest = int(apart.argmin())
            sums[nearest] += point
            counts[nearest] += 1
        return labels, sums / counts[:, None]

    def _nearest(self, rows: list[int]) -> list[int]:
        labels, centroids = self._centroids()
        apart = self._points.distances(self._points.rows[rows], centroids)
        return [labels[n] for n in apart.argmin(axis=1)]

    def _rebalance(self) -> None:
        """Reassign some subscriptions in rotation, without emptying a cluster."""
        rows = self._points.live(self._turn, REBALANCED)
        if not rows:
            return
        self._turn = rows[-1] + 1
        for row, label in zip(rows, self._nearest(rows), strict=True):
            key = self._keys[row]
            if self._of[key] != label and len(self._members[self._of[key]].filters) > 1:
                self._leave(key)
                self._enter(key, label)

    def _resize(self) -> None:
        """Split or combine clusters until there are K."""
        wanted = max(1, min(self.k or max(1, len(self._used)), len(self._distinct)))
        while self._members and len(self._members) < wanted and self._split():
            pass
        while len(self._members) > wanted:
            self._combine()

    def _split(self) -> bool:
        """Split the widest divisible cluster at two distant members; return whether there was one."""
        labels, centroids = self._centroids()
        widths = []
        for label, centroid in zip(labels, centroids, strict=True):
            rows = [self._row[key] for key in self._members[label].filters]
            apart = self._points.distances(self._points.rows[rows], centroid[None, :])[:, 0]
            widths.append((float(apart.mean()), label, rows, apart))
        for _, _label, rows, apart in sorted(widths, key=lambda each: (-each[0], each[1])):
            points = self._points.rows[rows]
            one = int(apart.argmax())
            from_one = self._points.distances(points, points[one][None, :])[:, 0]
            other = int(from_one.argmax())
            if from_one[other] == 0.0:
                continue
            from_other = self._points.distances(points, points[other][None, :])[:, 0]
            label = self._open()
            for place in np.flatnonzero(from_other < from_one):
                key = self._keys[rows[int(place)]]
                self._leave(key)
                self._enter(key, label)
            return True
        return False

    def _combine(self) -> None:
        """Join the two clusters with the nearest centroids; the larger one keeps its number."""
        labels, centroids = self._centroids()
        apart = self._points.distances(centroids, centroids)
        np.fill_diagonal(apart, np.inf)
        pair = [labels[int(n)] for n in np.unravel_index(int(apart.argmin()), apart.shape)]
        small, large = sorted(pair, key=lambda label: (len(self._members[label].filters), -label))
        for key in list(self._members[small].filters):
            self._leave(key)
            self._enter(key, large)


class AverageKMeans(KMeans):
    """`KMeans` that minimises the metric of the grouping paper, the sum of average distances to centroids.

    Nearest centroids, the operation that the paper lists, minimise the sum of squares instead. The metric
    prefers one wide cluster and a few outliers. The cost of a change grows with the number of subscriptions.
    """

    def _rows(self, label: int) -> list[int]:
        return [self._row[key] for key in self._members[label].filters]

    def _average(self, rows: Sequence[int]) -> float:
        """Return the average distance of some rows to their centroid; 0 without rows."""
        if not rows:
            return 0.0
        points = self._points.rows[list(rows)]
        return float(self._points.distances(points, points.mean(axis=0)[None, :]).mean())

    def _rebalance(self) -> None:
        """Move some subscriptions, in rotation, to the clusters where the metric is smallest."""
        rows = self._points.live(self._turn, REBALANCED)
        if not rows:
            return
        self._turn = rows[-1] + 1
        for row in rows:
            self._improve(self._keys[row], row)

    def _improve(self, key: Hashable, row: int) -> None:
        """Move a subscription if that decreases the metric, without emptying a cluster."""
        source = self._of[key]
        inside = self._rows(source)
        if len(inside) == 1:
            return
        saved = self._average(inside) - self._average([each for each in inside if each != row])
        costs = []
        for label in self._members:
            if label != source:
                others = self._rows(label)
                costs.append((self._average([*others, row]) - self._average(others), label))
        if costs and saved - min(costs)[0] > LEAST_GAIN:
            self._leave(key)
            self._enter(key, min(costs)[1])


def divide(points: Matrix) -> npt.NDArray[np.bool_]:
    """Return a mask of the points that are closer to the second of the two farthest points."""
    apart = distances(points, points)
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return np.asarray(apart[:, int(other)] < apart[:, int(one)])
