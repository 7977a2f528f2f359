"""Portions: which runs a Spark task does, one after the other.

A task costs some 30 ms of processor time in the JVM and in its worker, and a process of its own costs a run
some 100 ms more, by the pages that it copies. Against a run of a minute that is nothing, so such a run is a
task alone, and ends, is told and is tried again by itself; short runs share one.
"""

from __future__ import annotations

from collections.abc import Sequence

from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.progress import size

MOST_RUNS = 32
"Of a portion."

MOST_SIZE = 50_000.0
"Of a portion of more than one run, in seconds times nodes: 1 to 15 s of simulating, by protocol."

_LEAST_PORTIONS = 8
"A slot, if there are as many runs: with fewer, who gets the last one keeps all others waiting."


def batch_runs(runs: Sequence[PlannedRun], slots: int) -> list[list[PlannedRun]]:
    """The runs in portions, in the order that they have."""
    most = min(MOST_RUNS, len(runs) // (_LEAST_PORTIONS * slots))
    portions: list[list[PlannedRun]] = []
    held = 0.0
    for run in runs:
        if not portions or len(portions[-1]) >= most or held + size(run) > MOST_SIZE:
            portions.append([])
            held = 0.0
        portions[-1].append(run)
        held += size(run)
    return portions
