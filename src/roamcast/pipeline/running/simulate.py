"""The stage simulate: one Spark task per long run or batch of short runs, the longest runs first.

It uses the DataFrame API alone, so it is the same on one machine, on a cluster and over Spark Connect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from roamcast.campaign.campaign import RunLimits
from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.progress import Progress, estimate
from roamcast.errors import UserError
from roamcast.fingerprint import make_check, package_version
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.running.task import SIMULATOR, RunTask, describe_router
from roamcast.pipeline.running.task_batches import batch_runs
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import count_slots, one_per_partition
from roamcast.pipeline.spark.session import is_remote
from roamcast.routing.catalogue import installed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OUTCOME = pa.schema(
    [("run", pa.string()), ("status", pa.string()), ("wall", pa.float64()), ("error", pa.string())]
)
"The outcome of a run; `wall` is its elapsed time [s]."

_POLL_INTERVAL = 0.1
"Interval between updates of the progress [s]."


class DiskFull(UserError):
    """The disk has no space for the facts of a run."""


def simulate(
    spark: SparkSession,
    store: CampaignFolder,
    runs: Sequence[PlannedRun],
    limits: RunLimits,
    *,
    costs: dict[str, float] | None = None,
    watch: Callable[[Progress], object] = lambda _: None,
    runner: str = SIMULATOR,
) -> pa.Table:
    """Do `runs` and return the outcome of each, as `OUTCOME`.

    A run that fails is part of the result. A full disk raises `DiskFull`.
    """
    if not runs:
        return OUTCOME.empty_table()
    slots = count_slots(spark)
    batches = make_tasks(runs, store, limits, slots, costs=costs, runner=runner)
    progress = Progress(runs, slots)
    sizes: list[int] = []
    tasks = one_per_partition(spark, _count_each(batches, sizes))
    reports = _TaskCounter(spark, sizes) if is_remote(spark) else _AccumulatorReports(spark)
    columns = "run string, status string, wall double, error string"
    frame = tasks.mapInArrow(_task_function(reports.report), columns)
    answers: list[pa.Table] = []
    errors: list[Exception] = []

    def job() -> None:
        try:
            with format_error("simulating"):
                answers.append(frame.toArrow().cast(OUTCOME))
        except Exception as error:  # raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=job, name="simulate", daemon=True)
    thread.start()
    try:
        ended = False
        while not ended:
            thread.join(_POLL_INTERVAL)
            ended = not thread.is_alive()  # before the last update, so that it includes all reports
            reports.update(progress)
            watch(progress)
            if progress.trouble:
                reports.cancel()
                break
    finally:
        reports.end()
    full = progress.trouble
    for outcomes in answers:
        messages = outcomes.filter(pc.equal(outcomes["status"], "disk full"))["error"].to_pylist()
        full = full or next(iter(messages), "")
    if full:
        raise DiskFull(f"{store.folder}: the disk is full ({full}); make room and run again")
    if errors:
        raise errors[0]
    [outcomes] = answers
    return outcomes


def make_tasks(
    runs: Sequence[PlannedRun],
    store: CampaignFolder,
    limits: RunLimits,
    slots: int,
    *,
    costs: dict[str, float] | None = None,
    runner: str = SIMULATOR,
) -> Iterator[list[RunTask]]:
    """Yield the tasks of each batch of runs, the longest runs first.

    Runs of equal cost keep their order: neighbours in a plan share a scenario, which a batch then has once.
    """
    costs = costs or estimate(runs, ())
    longest_first = sorted(runs, key=lambda run: -costs[run.id])
    preload = find_installed(runs)
    described = {router: describe_router(router) for router in {run.router for run in runs}}
    task = partial(RunTask, staged=store.staged, seconds=limits.time, memory=limits.memory)
    for each in batch_runs(longest_first, slots):
        yield [task(run, runner=runner, preload=preload, **described[run.router]) for run in each]


def _count_each(batches: Iterable[list[RunTask]], sizes: list[int]) -> Iterator[list[RunTask]]:
    """Yield the batches, and append the number of runs of each to `sizes`."""
    for batch in batches:
        sizes.append(len(batch))
        yield batch


def find_installed(runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """Return the installed protocols of `runs`, which workers import before the first run."""
    return tuple(sorted({run.router for run in runs} & installed().keys()))


def _task_function(
    report: Callable[[dict[str, Any]], object] | None,
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Return the function of a Spark task: it does a batch of runs and passes each outcome to `report`."""
    check = make_check(package_version())

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle

        import pyarrow as pa
        from pyspark import TaskContext

        check()  # an executor that joined later may have other code
        from roamcast.pipeline.running.task import check_version, execute_all

        context = TaskContext.get()
        again = context is not None and context.attemptNumber() > 0
        for batch in batches:
            tasks = [task for item in batch["item"].to_pylist() for task in pickle.loads(item)]
            for task in tasks:
                task.find_router()
                check_version(task.run)
            for outcome in execute_all(tasks, again):
                row = {name: outcome.get(name) for name in OUTCOME.names}
                if report is not None:
                    report(row)
                yield pa.RecordBatch.from_pylist([row], OUTCOME)

    return work


class _AccumulatorReports:
    """Outcomes of runs that tasks report through a Spark accumulator."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        outcomes = self._outcomes = self._context.accumulator([], _list_accumulator())
        self.report = lambda outcome: outcomes.add([outcome])

    def update(self, progress: Progress) -> None:
        known = self._outcomes.value  # another thread appends to it
        if new := known[:]:
            del known[: len(new)]
            progress.update(new, monotonic())

    def cancel(self) -> None:
        self._context.cancelAllJobs()

    def end(self) -> None:
        pass


class _TaskCounter:
    """The number of tasks that have ended: Spark Connect reports no more while a job runs."""

    report = None

    def __init__(self, spark: SparkSession, batch_sizes: Sequence[int]) -> None:
        self._spark = spark
        self._batch_sizes = batch_sizes
        self._ended = 0
        spark.registerProgressHandler(self._note)

    def _note(self, stages: Any, inflight_tasks: int, operation_id: str, done: bool) -> None:
        self._ended = max([self._ended, *(stage.num_completed_tasks for stage in stages or ())])

    def update(self, progress: Progress) -> None:
        progress.count(sum(self._batch_sizes[: self._ended]), monotonic())

    def cancel(self) -> None:
        self._spark.interruptAll()

    def end(self) -> None:
        self._spark.removeProgressHandler(self._note)


def _list_accumulator() -> Any:
    """Return the parameter of an accumulator that concatenates lists."""
    from pyspark.accumulators import AccumulatorParam

    class Lists(AccumulatorParam):  # type: ignore[misc]
        def zero(self, value: list[Any]) -> list[Any]:
            return []

        def addInPlace(self, one: list[Any], other: list[Any]) -> list[Any]:
            one.extend(other)
            return one

    return Lists()
