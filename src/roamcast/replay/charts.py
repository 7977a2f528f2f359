"""Charts: what the viewer draws below the map, in equal bins of time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.why.causes import FRAME_LOSSES

BINS = 240
"Of each chart."

CATEGORIES = ("event", "subscription", "routing", "control")

Reals = npt.NDArray[np.float64]


class Charts:
    """Counts rows of transmissions and drops as they are read, in any order."""

    def __init__(self, duration: float) -> None:
        self._width = duration / BINS
        self._frames = {each: np.zeros(BINS, np.int64) for each in CATEGORIES}
        self._airtime = np.zeros(BINS)
        self._failed, self._queue, self._collisions = (np.zeros(BINS, np.int64) for _ in range(3))

    def add_transmissions(self, rows: pa.Table) -> None:
        """Count transmissions by category, their airtime, and those given up."""
        sent = bin_times(rows["time"].to_numpy(), self._width)
        for each in CATEGORIES:
            self._frames[each] += _count(sent[_is(rows, "category", [each])])
        self._airtime += np.bincount(sent, rows["airtime"].to_numpy(), BINS)
        self._failed += _count(sent[rows["failed"].to_numpy()])

    def add_drops(self, rows: pa.Table) -> None:
        """Count drops by a full queue and lost frames."""
        dropped = bin_times(rows["time"].to_numpy(), self._width)
        self._queue += _count(dropped[_is(rows, "cause", ["queue_full"])])
        self._collisions += _count(dropped[_is(rows, "cause", FRAME_LOSSES)])

    def draw(self, share: Reals, delay: Reals) -> dict[str, Any]:
        """Return each chart as a list of `BINS` numbers; None where there is nothing to divide by.

        `share` is that of deliveries made, `delay` their median delay [s], by when events were published.
        """
        return {
            "frames": {each: counts.tolist() for each, counts in self._frames.items()},
            "airtime": _round(self._airtime / self._width, 6),
            "delivered": _round(share, 5),
            "delay": _round(delay, 6),
            "queue": self._queue.tolist(),
            "collisions": self._collisions.tolist(),
            "failed": self._failed.tolist(),
        }


def _is(table: pa.Table, column: str, words: Collection[str]) -> npt.NDArray[np.bool_]:
    """Return which rows of a column of words have one of `words`."""
    values = table[column].combine_chunks()
    chosen = np.array([word in words for word in values.dictionary.to_pylist()], bool)
    codes = values.indices.to_numpy()
    return chosen[codes] if len(codes) else np.zeros(0, bool)


def bin_times(times: Reals, width: float) -> npt.NDArray[np.int64]:
    """Return the bin of each time [s], if bins have `width` seconds."""
    return np.clip(times / width, 0, BINS - 1).astype(np.int64)


def _count(bins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.bincount(bins, minlength=BINS)


def _round(values: Reals, digits: int) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), digits) for value in values]
