"""Progress of a campaign's simulation, and an estimate of the remaining time from completed runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from roamcast.campaign.plan import PlannedRun


@dataclass
class _RunRate:
    """Sums over the runs of a router: size of the waiting runs, and rates of the completed ones."""

    waiting: int = 0
    size: float = 0.0
    "Total size of the waiting runs [s x nodes]."
    reported: int = 0
    rates: float = 0.0
    "Sum of wall time per size over the completed runs."


@dataclass
class Progress:
    """The progress of a simulation."""

    runs: Sequence[PlannedRun]
    slots: int
    "Number of runs that execute concurrently."
    done: int = 0
    failed: int = 0
    ends: float | None = None
    "Estimated end on the monotonic clock [s]; None if there is no estimate yet."
    trouble: str = ""
    planned: int = 0
    "Number of runs of the whole plan, of which `runs` are a part; 0 if `runs` are all."
    earlier: int = 0
    "Number of runs of the plan that were completed before `runs`."
    earlier_failed: int = 0
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._by_id = {run.id: run for run in self.runs}
        self._ended: dict[str, tuple[str, float | None, str]] = {}
        "Run -> status, wall time [s] and error."
        self._paces: dict[str, _RunRate] = {}
        for run in self.runs:
            self._wait(run, 1)

    @property
    def left(self) -> float | None:
        """The estimated remaining time [s]; None if there is no estimate yet."""
        return None if self.ends is None else max(self.ends - monotonic(), 0.0)

    def update(self, outcomes: Iterable[Mapping[str, Any]], now: float) -> None:
        """Process outcomes that tasks reported: `run`, `status`, `wall` and `error` of each run.

        The cost is proportional to the number of new outcomes, not to the number of runs.
        """
        for outcome in outcomes:
            run = self._by_id[outcome["run"]]
            before = self._ended.get(run.id)  # a task that Spark repeats reports twice
            if before is None:
                self._wait(run, -1)
            else:
                self._note(run, before, -1)
            ended = (sys.intern(outcome["status"]), outcome.get("wall"), outcome.get("error") or "")
            self._note(run, ended, 1)
            self._ended[run.id] = ended
        known = [pace for pace in self._paces.values() if pace.reported]
        if known:
            usual = sum(pace.rates / pace.reported for pace in known) / len(known)
            rest = sum(
                pace.size * (pace.rates / pace.reported if pace.reported else usual)
                for pace in self._paces.values()
            )
            waiting = len(self.runs) - len(self._ended)
            self.ends = now + rest / max(min(self.slots, waiting), 1)

    def _wait(self, run: PlannedRun, sign: int) -> None:
        pace = self._paces.setdefault(run.router, _RunRate())
        pace.waiting += sign
        pace.size = pace.size + sign * size(run) if pace.waiting else 0.0

    def _note(self, run: PlannedRun, ended: tuple[str, float | None, str], sign: int) -> None:
        status, took, error = ended
        self.done += sign * (status == "done")
        self.failed += sign * (status == "failed")
        if status == "disk full":
            self.trouble = error if sign > 0 else ""
        if took:
            pace = self._paces[run.router]
            pace.reported += sign
            pace.rates += sign * took / size(run)

    def count(self, ended: int, now: float) -> None:
        """Set the number of runs that have ended by `now`, if their outcomes are unknown."""
        self._began = self._began or now
        if ended > self.done:
            self.done = min(ended, len(self.runs))
            self.ends = now + (now - self._began) / self.done * (len(self.runs) - self.done)


def estimate(
    runs: Iterable[PlannedRun], known: Iterable[tuple[PlannedRun, float | None]]
) -> dict[str, float]:
    """Return the estimated cost of each of `runs`: its size times the mean rate of its protocol in `known`.

    The unit is that of `known`; if `known` is empty, the estimates are relative.
    """
    rates: dict[str, list[float]] = {}
    for run, took in known:
        if took:
            rates.setdefault(run.router, []).append(took / size(run))
    mean = {router: sum(found) / len(found) for router, found in rates.items()}
    usual = sum(mean.values()) / len(mean) if mean else 1.0
    return {run.id: size(run) * mean.get(run.router, usual) for run in runs}


def size(run: PlannedRun) -> float:
    """Return the size of a run: simulated time times number of nodes [s]."""
    return run.duration * run.nodes
