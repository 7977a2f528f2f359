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

CATEGORIES = ("event", "subscription", "routing", "control")

Reals = npt.NDArray[np.float64]


def draw_charts(facts: Facts) -> dict[str, Any]:
    """Return each chart as a list of `BINS` numbers; None where there is nothing to divide by."""
    width = facts.run.duration / BINS
    transmissions, drops = facts["transmissions"], facts["drops"]
    sent = _bin(transmissions["time"].to_numpy(), width)
    frames = {each: _count(sent[_is(transmissions, "category", [each])]).tolist() for each in CATEGORIES}
    airtime = np.bincount(sent, transmissions["airtime"].to_numpy(), BINS) / width
    failed = _count(sent[transmissions["failed"].to_numpy(zero_copy_only=False)])
    dropped = _bin(drops["time"].to_numpy(), width)
    share, delay = _deliveries(facts, width)
    return {
        "frames": frames,
        "airtime": _round(airtime, 6),
        "delivered": _round(share, 5),
        "delay": _round(delay, 6),
        "queue": _count(dropped[_is(drops, "cause", ["queue_full"])]).tolist(),
        "collisions": _count(dropped[_is(drops, "cause", FRAME_LOSSES)]).tolist(),
        "failed": failed.tolist(),
    }


def _deliveries(facts: Facts, width: float) -> tuple[Reals, Reals]:
    """Return, by when events were published, the share of expected pairs delivered and median delay [s]."""
    publications, deliveries = facts["publications"].to_pandas(), facts["deliveries"].to_pandas()
    published = publications.set_index("publication")["time"]
    first = deliveries.sort_values("time", kind="stable").drop_duplicates(["publication", "node"])
    expected = facts["expectations"].to_pandas()
    pairs = expected[expected["node"] >= 0].merge(first, "left", ["publication", "node"])
    pairs = pairs[pairs["publication"].isin(published.index)]
    began = published.loc[pairs["publication"]].to_numpy()
    pairs = pairs.assign(bin=_bin(began, width), delay=pairs["time"].to_numpy() - began)
    grouped = pairs.groupby("bin")["delay"]
    share, delay = np.full(BINS, np.nan), np.full(BINS, np.nan)
    got = grouped.count() / grouped.size()
    share[got.index.to_numpy(int)] = got.to_numpy()
    median = grouped.median()
    delay[median.index.to_numpy(int)] = median.to_numpy()
    return share, delay


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
