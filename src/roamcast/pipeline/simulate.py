"""simulate: the runs not yet done -> facts, one Spark task a run, the longest first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.pipeline.campaign import Limits
from roamcast.pipeline.plan import Run
from roamcast.pipeline.session import briefly
from roamcast.pipeline.store import Store
from roamcast.pipeline.task import SIMULATOR, Task, execute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class DiskFull(UserError):
    """There was no room for a run's facts."""


@dataclass
class Progress:
    """How far a simulation is."""

    total: int
    done: int = 0
    failed: int = 0
    work: float = 1.0
    "Of all runs, in the units of `estimate`."
    worked: float = 0.0
    began: float = field(default_factory=monotonic)
    trouble: str = ""

    @property
    def left(self) -> float | None:
        """Seconds left, if anything is known about it."""
        if not self.worked:
            return None
        return (monotonic() - self.began) * (self.work - self.worked) / self.worked


def estimate(runs: Sequence[Run], done: Sequence[tuple[Run, dict[str, Any]]]) -> dict[str, float]:
    """How long each run may take, in any unit: by its size and by what its protocol took per size before."""

    def size(run: Run) -> float:
        return run.duration * run.nodes

    rates: dict[str, list[float]] = {}
    for run, manifest in done:
        if manifest.get("cpu"):
            rates.setdefault(run.router, []).append(manifest["cpu"] / size(run))
    mean = {router: sum(found) / len(found) for router, found in rates.items()}
    usual = sum(mean.values()) / len(mean) if mean else 1.0
    return {run.id: size(run) * mean.get(run.router, usual) for run in runs}


def simulate(
    spark: SparkSession,
    store: Store,
    runs: Sequence[Run],
    limits: Limits,
    *,
    costs: dict[str, float] | None = None,
    watch: Callable[[Progress], object] = lambda _: None,
    runner: str = SIMULATOR,
) -> list[dict[str, Any]]:
    """Do `runs`; what became of each. A run that fails is an answer; a full disk is a `DiskFull`."""
    if not runs:
        return []
    context = spark.sparkContext
    costs = costs or estimate(runs, [])
    longest_first = sorted(runs, key=lambda run: (-costs[run.id], run.id))
    tasks = [Task(run, str(store.runs), limits.time, limits.memory, runner) for run in longest_first]
    told = context.accumulator([], _gatherer())
    progress = Progress(len(tasks), work=sum(costs[run.id] for run in runs))

    def work(task: Task) -> dict[str, Any]:
        outcome = execute(task)
        told.add([(outcome["status"], costs[task.run.id], outcome["error"])])
        return outcome

    answers: list[dict[str, Any]] = []
    trouble: list[Exception] = []

    def job() -> None:
        try:
            with briefly("simulating"):
                answers.extend(context.parallelize(tasks, len(tasks)).map(work).collect())
        except Exception as error:  # whatever it is, the caller's thread raises it
            trouble.append(error)

    thread = threading.Thread(target=job, name="simulate", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        _update(progress, told.value)
        watch(progress)
        if progress.trouble:
            context.cancelAllJobs()
            raise DiskFull(f"{store.folder}: the disk is full ({progress.trouble}); make room and run again")
    if trouble:
        raise trouble[0]
    return answers


def _update(progress: Progress, told: list[tuple[str, float, str]]) -> None:
    progress.done = sum(status == "done" for status, _, _ in told)
    progress.failed = sum(status == "failed" for status, _, _ in told)
    progress.worked = sum(cost for _, cost, _ in told)
    progress.trouble = next((error for status, _, error in told if status == "disk full"), "")


def _gatherer() -> Any:
    """How tasks' words add up on the driver."""
    from pyspark.accumulators import AccumulatorParam

    class Words(AccumulatorParam):  # type: ignore[misc]
        def zero(self, value: list[Any]) -> list[Any]:
            return []

        def addInPlace(self, one: list[Any], other: list[Any]) -> list[Any]:
            one.extend(other)
            return one

    return Words()
