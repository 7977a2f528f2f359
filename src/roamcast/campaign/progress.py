"""How far a simulation is, and how long it may still take, by what its runs took so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from roamcast.campaign.plan import Run


@dataclass
class Progress:
    """How far a simulation is."""

    runs: Sequence[Run]
    slots: int
    "How many runs are done at a time."
    done: int = 0
    failed: int = 0
    ends: float | None = None
    "When it may end, on the monotonic clock; None while nothing is known."
    trouble: str = ""
    _began: float = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that it may still take, if anything is known about it."""
        return None if self.ends is None else max(self.ends - monotonic(), 0.0)

    def hear(self, told: Iterable[Mapping[str, Any]], now: float) -> None:
        """Learn from all that tasks have told until `now`: `run`, `status`, `wall` and `error` of each."""
        ended = {outcome["run"]: outcome for outcome in told}  # a task that Spark tried twice tells twice
        self.done = sum(outcome["status"] == "done" for outcome in ended.values())
        self.failed = sum(outcome["status"] == "failed" for outcome in ended.values())
        self.trouble = next((o["error"] for o in ended.values() if o["status"] == "disk full"), "")
        took = [(run, ended[run.id].get("wall")) for run in self.runs if run.id in ended]
        if any(wall for _, wall in took):
            waiting = [run for run in self.runs if run.id not in ended]
            rest = sum(estimate(waiting, took).values())
            self.ends = now + rest / max(min(self.slots, len(waiting)), 1)

    def count(self, ended: int, now: float) -> None:
        """Learn that so many runs have ended by `now`, where it is not told which or how."""
        self._began = self._began or now
        if ended > self.done:
            self.done = min(ended, len(self.runs))
            self.ends = now + (now - self._began) / self.done * (len(self.runs) - self.done)


def estimate(runs: Iterable[Run], known: Iterable[tuple[Run, float | None]]) -> dict[str, float]:
    """How long each of `runs` may take: by its size, and by what its protocol took per size in `known`.

    In the unit of `known`; if nothing is known, in none.
    """
    rates: dict[str, list[float]] = {}
    for run, took in known:
        if took:
            rates.setdefault(run.router, []).append(took / _size(run))
    mean = {router: sum(found) / len(found) for router, found in rates.items()}
    usual = sum(mean.values()) / len(mean) if mean else 1.0
    return {run.id: _size(run) * mean.get(run.router, usual) for run in runs}


def _size(run: Run) -> float:
    return run.duration * run.nodes
