"""How long nodes are cut off from others in a movement."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from roamcast.scenario.traces.movement import Legs

STEP = 1.0
"Seconds between two looks at who is connected."


def longest_partition(
    legs: Legs, count: int, targets: Collection[int], reach: float, duration: float
) -> float:
    """The longest time, in seconds, for which a node has no path over links of `reach` to any target."""
    times = np.arange(0.0, duration, STEP)
    places = _places(legs, count, times)
    longest = np.zeros(count, dtype=np.int64)
    now = np.zeros(count, dtype=np.int64)
    for part in np.array_split(np.arange(len(times)), max(len(times) // 100, 1)):
        for joined in _joined(places[part], sorted(targets), reach):
            now = np.where(joined, 0, now + 1)
            np.maximum(longest, now, out=longest)
    return float(longest.max()) * STEP


def _places(legs: Legs, count: int, times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where everyone is at each of the times: time, node, coordinate."""
    found = np.empty((len(times), count, 2))
    for node in range(count):
        own = legs.of(node)
        at = np.maximum(np.searchsorted(own.time, times, side="right") - 1, 0)
        way = np.hypot(own.x1 - own.x0, own.y1 - own.y0)[at]
        gone = np.minimum((times - own.time[at]) * own.speed[at], way)
        share = np.divide(gone, way, out=np.zeros_like(gone), where=way > 0)
        found[:, node, 0] = own.x0[at] + share * (own.x1 - own.x0)[at]
        found[:, node, 1] = own.y0[at] + share * (own.y1 - own.y0)[at]
    return found


def _joined(places: npt.NDArray[np.float64], targets: list[int], reach: float) -> npt.NDArray[np.bool_]:
    """Who has a path to one of the targets at each time."""
    apart = places[:, :, None, :] - places[:, None, :, :]
    linked = ((apart**2).sum(axis=3) <= reach**2).astype(np.float32)
    joined = np.zeros(places.shape[:2], dtype=bool)
    joined[:, targets] = True
    while True:
        # Everyone is linked to itself, so nobody is lost by this.
        more = np.matmul(linked, joined[:, :, None].astype(np.float32))[:, :, 0] > 0
        if (more == joined).all():
            return joined
        joined = more
