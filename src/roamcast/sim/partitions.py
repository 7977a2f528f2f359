"""The duration for which nodes are disconnected from others in a movement."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from roamcast.scenario.traces.movement import Legs

STEP = 1.0
"Interval between connectivity checks [s]."


def longest_partition(
    legs: Legs, count: int, targets: Collection[int], reach: float, duration: float
) -> float:
    """Return the longest time [s] for which a node has no path over links of `reach` [m] to any target."""
    longest = np.zeros(count, dtype=np.int64)
    now = np.zeros(count, dtype=np.int64)
    for places in places_at(legs, count, np.arange(0.0, duration, STEP)):
        now = np.where(_joined(places, sorted(targets), reach), 0, now + 1)
        np.maximum(longest, now, out=longest)
    return float(longest.max()) * STEP


def places_at(legs: Legs, count: int, times: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the positions of all nodes [m] at each of the ascending times: node, coordinate."""
    first = np.searchsorted(legs.node, np.arange(count + 1))
    at, last = first[:-1].copy(), first[1:] - 1
    x, y = legs.x1 - legs.x0, legs.y1 - legs.y0
    way = np.hypot(x, y)
    for time in times:
        while len(late := np.flatnonzero((at < last) & (legs.time[np.minimum(at + 1, last)] <= time))):
            at[late] += 1
        gone = np.minimum((time - legs.time[at]) * legs.speed[at], way[at])
        share = np.divide(gone, way[at], out=np.zeros_like(gone), where=way[at] > 0)
        yield np.stack((legs.x0[at] + share * x[at], legs.y0[at] + share * y[at]), axis=1)


def _joined(places: npt.NDArray[np.float64], targets: list[int], reach: float) -> npt.NDArray[np.bool_]:
    """Return which nodes have a path to one of the targets.

    The computing time is proportional to the number of links, not to the pairs of nodes.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    links = cKDTree(places).query_pairs(reach, output_type="ndarray")
    shape = (len(places), len(places))
    graph = coo_array((np.ones(len(links), dtype=np.bool_), (links[:, 0], links[:, 1])), shape=shape)
    part: npt.NDArray[np.int32] = connected_components(graph, directed=False)[1]
    return np.isin(part, part[targets])
