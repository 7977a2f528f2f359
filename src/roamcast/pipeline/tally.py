"""Counts over one run's largest tables: sums of whole numbers, the same in any order of rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from roamcast.pipeline.columns import read_pieces
from roamcast.routing.router import Drop

_CATEGORIES = ("event", "subscription", "routing", "control")
_OF_ROUTER = frozenset(reason.name.lower() for reason in Drop)


def tally_transmissions(folder: Path, warmup: float) -> dict[str, float | None]:
    """Messages, frames, bytes and airtime after the warm-up."""
    words: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    wanted = ("time", "to", "category", "size", "attempts", "failed", "airtime")
    for rows in read_pieces(folder, "transmissions", *wanted):
        counted = rows["time"].to_numpy() >= warmup
        words += _count(rows["category"], counted)
        frames = rows["attempts"].to_numpy()[counted].astype(np.int64)
        volume = rows["size"].to_numpy()[counted] * frames
        broadcast = rows["to"].to_numpy()[counted] == -1
        sums["failed"] += int(np.count_nonzero(rows["failed"].to_numpy(zero_copy_only=False)[counted]))
        sums["frames"] += int(frames.sum())
        sums["bytes"] += int(volume.sum())
        sums["broadcast_frames"] += int(frames[broadcast].sum())
        sums["broadcast_bytes"] += int(volume[broadcast].sum())
        # Whole nanoseconds add up the same in every order.
        sums["airtime"] += int((rows["airtime"].to_numpy()[counted] * 1e9 + 0.5).astype(np.int64).sum())
    return {
        "messages": words.total(),
        **{f"messages_{category}": words[category] for category in _CATEGORIES},
        "messages_failed": sums["failed"],
        "frames": sums["frames"],
        "bytes": sums["bytes"],
        "airtime": sums["airtime"] / 1e9,
        "broadcast_frames": sums["broadcast_frames"],
        "broadcast_bytes": sums["broadcast_bytes"],
    }


def tally_drops(folder: Path, warmup: float) -> dict[str, float | None]:
    """Messages that went no further after the warm-up, and those that the link lost."""
    causes: Counter[str] = Counter()
    for rows in read_pieces(folder, "drops", "time", "cause"):
        causes += _count(rows["cause"], rows["time"].to_numpy() >= warmup)
    by_router = sum(count for cause, count in causes.items() if cause in _OF_ROUTER)
    return {"drops": causes.total(), "drops_link": causes.total() - by_router}


def _count(words: pa.DictionaryArray, counted: NDArray[np.bool_]) -> Counter[str]:
    """How often each word occurs among the rows `counted`."""
    often = np.bincount(words.indices.to_numpy()[counted], minlength=len(words.dictionary))
    return Counter(dict(zip(words.dictionary.to_pylist(), often.tolist(), strict=True)))
