"""How far a simulation is, and how long it may still take, by what its runs took so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from roamcast.campaign.plan import PlannedRun


@dataclass
class _RunRate:
    """What is known of a router's runs, added up: what waits, and what the others took for their size."""

    waiting: int = 0
    size: float = 0.0
    "Of those that wait."
    told: int = 0
    rates: float = 0.0
    "The sum of what they took per size."


@dataclass
class Progress:
    """How far a simulation is."""

    runs: Sequence[PlannedRun]
    slots: int
    "How many runs are done at a time."
    done: int = 0
    failed: int = 0
    ends: float | None = None
    "When it may end, on the monotonic clock; None while nothing is known."
    trouble: str = ""
    planned: int = 0
    "Runs of the whole plan, of which `runs` are a part; as many as `runs` if 0."
    earlier: int = 0
    "Runs of the plan done before these."
    earlier_failed: int = 0
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._by_id = {run.id: run for run in self.runs}
        self._ended: dict[str, Mapping[str, Any]] = {}
        self._paces: dict[str, _RunRate] = {}
        for run in self.runs:
            self._wait(run, 1)

    @property
    def left(self) -> float | None:
        """Seconds that it may still take, if anything is known about it."""
        return None if self.ends is None else max(self.ends - monotonic(), 0.0)

    def update(self, told: Iterable[Mapping[str, Any]], now: float) -> None:
        """Learn what tasks have told since the last time: `run`, `status`, `wall` and `error` of each.

        It takes as long as what is new, however many runs there are.
        """
        for outcome in told:
            run = self._by_id[outcome["run"]]
            before = self._ended.get(run.id)  # a task that Spark tried twice tells twice
            if before is None:
                self._wait(run, -1)
            else:
                self._note(run, before, -1)
            self._note(run, outcome, 1)
            self._ended[run.id] = outcome
        known = [pace for pace in self._paces.values() if pace.told]
        if known:
            usual = sum(pace.rates / pace.told for pace in known) / len(known)
            rest = sum(
                pace.size * (pace.rates / pace.told if pace.told else usual) for pace in self._paces.values()
            )
            waiting = len(self.runs) - len(self._ended)
            self.ends = now + rest / max(min(self.slots, waiting), 1)

    def _wait(self, run: PlannedRun, sign: int) -> None:
        pace = self._paces.setdefault(run.router, _RunRate())
        pace.waiting += sign
        pace.size = pace.size + sign * size(run) if pace.waiting else 0.0

    def _note(self, run: PlannedRun, outcome: Mapping[str, Any], sign: int) -> None:
        self.done += sign * (outcome["status"] == "done")
        self.failed += sign * (outcome["status"] == "failed")
        if outcome["status"] == "disk full":
            self.trouble = outcome["error"] if sign > 0 else ""
        if took := outcome.get("wall"):
            pace = self._paces[run.router]
            pace.told += sign
            pace.rates += sign * took / size(run)

    def count(self, ended: int, now: float) -> None:
        """Learn that so many runs have ended by `now`, where it is not told which or how."""
        self._began = self._began or now
        if ended > self.done:
            self.done = min(ended, len(self.runs))
            self.ends = now + (now - self._began) / self.done * (len(self.runs) - self.done)


def estimate(
    runs: Iterable[PlannedRun], known: Iterable[tuple[PlannedRun, float | None]]
) -> dict[str, float]:
    """How long each of `runs` may take: by its size, and by what its protocol took per size in `known`.

    In the unit of `known`; if nothing is known, in none.
    """
    rates: dict[str, list[float]] = {}
    for run, took in known:
        if took:
            rates.setdefault(run.router, []).append(took / size(run))
    mean = {router: sum(found) / len(found) for router, found in rates.items()}
    usual = sum(mean.values()) / len(mean) if mean else 1.0
    return {run.id: size(run) * mean.get(run.router, usual) for run in runs}


def size(run: PlannedRun) -> float:
    """How much there is to simulate, in seconds times nodes."""
    return run.duration * run.nodes
