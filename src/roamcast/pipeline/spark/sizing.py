"""Settings of Spark by the size of the input: a small question starts quickly, a large one has room."""

from __future__ import annotations

import os

SMALLEST, MOST = 8, 4096
"Bounds of the number of shuffle partitions; Spark joins small ones at run time."

_PER_PARTITION = 16_000_000
"Compressed input of a shuffle partition [B]; its rows take some five times as much in memory."

LARGE = 1_000_000_000
"Input from which the JVM compiles in both tiers, collects in parallel and takes half of the memory [B]."

_LEAST_MEMORY = 2 << 30


def shuffle_partitions(size: int) -> int:
    """Return the number of shuffle partitions for `size` bytes of input."""
    return min(max(-(-size // _PER_PARTITION), SMALLEST), MOST)


def driver_memory(size: int, machine: int | None = None) -> str:
    """Return the maximum heap of an embedded JVM; `machine` is the memory of the machine [B]."""
    if size < LARGE:
        return f"{_LEAST_MEMORY >> 20}m"
    whole = machine or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{max(whole // 2, _LEAST_MEMORY) >> 20}m"


def java_options(size: int) -> str:
    """Return the options of a JVM: for little input it compiles once, because it lives for seconds."""
    return "" if size >= LARGE else "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
