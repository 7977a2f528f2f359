"""Batches of runs: which runs a Spark task does, one after the other.

A task costs some 30 ms of CPU time in the JVM and the worker, and a process per run some 100 ms more for
copied pages. A long run is a task of its own, so that it ends, is reported and is repeated alone; short runs
share a task.
"""

from __future__ import annotations

from collections.abc import Sequence

from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.progress import size

MOST_RUNS = 32
"Maximum number of runs in a batch."

MOST_SIZE = 50_000.0
"Maximum size of a batch of several runs [simulated seconds x nodes]: 1 to 15 s of CPU time, by protocol."

_BATCHES_PER_SLOT = 8
"Minimum number of batches per slot, if there are as many runs: with fewer, slots wait for the last batch."


def batch_runs(runs: Sequence[PlannedRun], slots: int) -> list[list[PlannedRun]]:
    """Divide the runs into batches and keep their order."""
    most = min(MOST_RUNS, len(runs) // (_BATCHES_PER_SLOT * slots))
    batches: list[list[PlannedRun]] = []
    total = 0.0
    for run in runs:
        if not batches or len(batches[-1]) >= most or total + size(run) > MOST_SIZE:
            batches.append([])
            total = 0.0
        batches[-1].append(run)
        total += size(run)
    return batches
