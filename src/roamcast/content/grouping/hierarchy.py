"""Hierarchical clustering, agglomerative and divisive, with which the papers compare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roamcast.content.filter import Filter
from roamcast.content.grouping.cluster import FilterCluster, by_type
from roamcast.content.grouping.features import Matrix, cluster_count, distances, vectors
from roamcast.content.grouping.kmeans import Labels, divide, to_groups


def agglomerative_groups(filters: Sequence[Filter], k: int | None = None) -> list[FilterCluster]:
    """Return K clusters per event type by joining the two closest clusters, starting from single filters."""
    from sklearn.cluster import AgglomerativeClustering

    groups = []
    for places in by_type(filters).values():
        chosen = [filters[p] for p in places]
        wanted = min(k or cluster_count(chosen), len(chosen))
        labels = np.zeros(len(chosen), dtype=np.int64)
        points = vectors(chosen)
        if len(chosen) > 1:
            # Precomputed distances avoid SciPy's warning that few points look like a distance matrix.
            clustering = AgglomerativeClustering(wanted, linkage="average", metric="precomputed")
            labels = clustering.fit(distances(points, points)).labels_
        groups.extend(to_groups(filters, places, labels))
    return groups


def divisive_groups(
    filters: Sequence[Filter], k: int | None = None, threshold: float | None = None
) -> list[FilterCluster]:
    """Return clusters per event type by dividing the widest cluster at its two farthest members.

    It stops at K clusters or, with a threshold, when no two members of a cluster are farther apart.
    """
    groups = []
    for places in by_type(filters).values():
        chosen = [filters[p] for p in places]
        labels = _divide(vectors(chosen), k or cluster_count(chosen), threshold)
        groups.extend(to_groups(filters, places, labels))
    return groups


def _divide(points: Matrix, k: int, threshold: float | None) -> Labels:
    labels: Labels = np.zeros(len(points), dtype=np.int64)
    apart = distances(points, points)
    while True:
        count = int(labels.max()) + 1
        widths = [float(apart[np.ix_(labels == n, labels == n)].max()) for n in range(count)]
        widest = int(np.argmax(widths))
        enough = widths[widest] <= threshold if threshold is not None else count >= k
        if enough or widths[widest] == 0.0:
            return labels
        inside = np.flatnonzero(labels == widest)
        labels[inside[divide(points[inside])]] = count
