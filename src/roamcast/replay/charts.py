"""Charts: what the viewer draws below the map, in equal bins of time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.tables import Facts
from roamcast.why.causes import FRAME_LOSSES

BINS = 240
"Of each chart."

_NODE_BITS = 32
_ROWS = 1 << 20
"Expectations that are looked up at once."

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
        sent = _bin(rows["time"].to_numpy(), self._width)
        for each in CATEGORIES:
            self._frames[each] += _count(sent[_is(rows, "category", [each])])
        self._airtime += np.bincount(sent, rows["airtime"].to_numpy(), BINS)
        self._failed += _count(sent[rows["failed"].to_numpy()])

    def add_drops(self, rows: pa.Table) -> None:
        """Count drops by a full queue and lost frames."""
        dropped = _bin(rows["time"].to_numpy(), self._width)
        self._queue += _count(dropped[_is(rows, "cause", ["queue_full"])])
        self._collisions += _count(dropped[_is(rows, "cause", FRAME_LOSSES)])

    def draw(self, facts: Facts) -> dict[str, Any]:
        """Return each chart as a list of `BINS` numbers; None where there is nothing to divide by."""
        share, delay = _deliveries(facts, self._width)
        return {
            "frames": {each: counts.tolist() for each, counts in self._frames.items()},
            "airtime": _round(self._airtime / self._width, 6),
            "delivered": _round(share, 5),
            "delay": _round(delay, 6),
            "queue": self._queue.tolist(),
            "collisions": self._collisions.tolist(),
            "failed": self._failed.tolist(),
        }


def _deliveries(facts: Facts, width: float) -> tuple[Reals, Reals]:
    """Return, by when events were published, the share of expected pairs delivered and median delay [s]."""
    table = facts["publications"].select(("publication", "time")).sort_by("publication")
    ids, published = table["publication"].to_numpy(), table["time"].to_numpy()
    share, delay = np.full(BINS, np.nan), np.full(BINS, np.nan)
    if not len(ids):
        return share, delay
    table = facts["deliveries"]
    delivered = _pairs(ids, table)
    order = np.lexsort((table["time"].to_numpy(), delivered))
    delivered, times = delivered[order], table["time"].to_numpy()[order]
    bins, delays = [], []
    table = facts["expectations"].combine_chunks()
    for start in range(0, len(table), _ROWS):  # in parts: there may be many more pairs than events
        expected = _pairs(ids, table.slice(start, _ROWS))
        expected = expected[expected >= 0]
        began = published[expected >> _NODE_BITS]
        at = np.searchsorted(delivered, expected)
        got = np.append(delivered, -1)[at] == expected
        bins.append(_bin(began, width).astype(np.uint8))
        delays.append(np.where(got, np.append(times, np.nan)[at], np.nan) - began)
    if bins:
        where, waited = np.concatenate(bins), np.concatenate(delays)
        for each in np.unique(where):
            of_bin = waited[where == each]
            arrived = of_bin[~np.isnan(of_bin)]
            share[each] = len(arrived) / len(of_bin)
            delay[each] = np.median(arrived) if len(arrived) else np.nan
    return share, delay


def _pairs(ids: npt.NDArray[np.int64], table: pa.Table) -> npt.NDArray[np.int64]:
    """Return event and node of each row as one number; -1 where one of them is not known."""
    wanted, nodes = table["publication"].to_numpy(), table["node"].to_numpy().astype(np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where((ids[at] == wanted) & (nodes >= 0), at << _NODE_BITS | nodes, -1)


def _is(table: pa.Table, column: str, words: Collection[str]) -> npt.NDArray[np.bool_]:
    """Return which rows of a column of words have one of `words`."""
    values = table[column].combine_chunks()
    chosen = np.array([word in words for word in values.dictionary.to_pylist()], bool)
    codes = values.indices.to_numpy()
    return chosen[codes] if len(codes) else np.zeros(0, bool)


def _bin(times: Reals, width: float) -> npt.NDArray[np.int64]:
    return np.clip(times / width, 0, BINS - 1).astype(np.int64)


def _count(bins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.bincount(bins, minlength=BINS)


def _round(values: Reals, digits: int) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), digits) for value in values]
