"""Compaction: selects small batches to be merged, so that small commits do not leave many small files."""

from __future__ import annotations

from collections import defaultdict
from math import log

from roamcast.lake.snapshot import Batch, Snapshot

FEW = 8
"Number of batches of similar size that are merged into one."

LARGE = 256_000_000
"Minimum size of a batch that is not merged any more [B]."

_SMALL = 1_000_000
"Size below which all batches belong to the lowest level [B]."


def choose(snapshot: Snapshot, few: int = FEW, large: int = LARGE) -> list[list[Batch]]:
    """Return groups of batches, each of which is to be merged into one batch.

    Levels of size grow by the factor `few`, so the number of times that a row is rewritten is logarithmic in
    the size of the lake. Within a level, batches are merged in the order in which they were committed.
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
