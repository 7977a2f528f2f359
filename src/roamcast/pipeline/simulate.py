"""simulate: the runs not yet done -> facts, one Spark task a run, the longest first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.pipeline.campaign import Limits
from roamcast.pipeline.plan import Run
from roamcast.pipeline.progress import Progress, estimate
from roamcast.pipeline.session import briefly
from roamcast.pipeline.store import Store
from roamcast.pipeline.task import SIMULATOR, Task, execute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class DiskFull(UserError):
    """There was no room for a run's facts."""


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
    costs = costs or estimate(runs, ())
    longest_first = sorted(runs, key=lambda run: (-costs[run.id], run.id))
    tasks = [Task(run, store.staged, limits.time, limits.memory, runner) for run in longest_first]
    told = context.accumulator([], _gatherer())
    progress = Progress(runs, context.defaultParallelism)

    def work(task: Task) -> dict[str, Any]:
        outcome = execute(task)
        told.add([{key: outcome.get(key) for key in ("run", "status", "wall", "error")}])
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
    heard = 0
    while thread.is_alive():
        thread.join(0.1)
        if len(told.value) > heard:
            heard = len(told.value)
            progress.hear(told.value, monotonic())
        watch(progress)
        if progress.trouble:
            context.cancelAllJobs()
            raise DiskFull(f"{store.folder}: the disk is full ({progress.trouble}); make room and run again")
    if trouble:
        raise trouble[0]
    return answers


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
