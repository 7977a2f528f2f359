"""Compaction: which batches are worth joining, so that many small commits do not leave many small files."""

from __future__ import annotations

from collections import defaultdict
from math import log

from roamcast.lake.log import Batch, Snapshot

FEW = 8
"Batches of about one size that are joined into one."

LARGE = 256_000_000
"Bytes from which a batch stays as it is."

_SMALL = 1_000_000
"Bytes below which all batches count as of one size."


def choose(snapshot: Snapshot, few: int = FEW, large: int = LARGE) -> list[list[Batch]]:
    """Groups of batches to be joined, each group into one batch.

    Batches are taken by their size, in powers of `few`, so that a row is written again only as often as the
    logarithm of the lake's size; runs are taken in the order in which they were committed.
    """
    levels: dict[int, list[Batch]] = defaultdict(list)
    for batch in snapshot.batches.values():
        if batch.size < large:
            levels[int(log(max(batch.size, _SMALL) / _SMALL, few))].append(batch)
    chosen: list[list[Batch]] = []
    for level in sorted(levels):
        waiting = levels[level]
        chosen += [waiting[start : start + few] for start in range(0, len(waiting) - few + 1, few)]
    return chosen
