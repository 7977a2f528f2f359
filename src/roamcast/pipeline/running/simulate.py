"""simulate: the runs not yet done -> facts, a Spark task a run or a portion of short ones, the longest first.

By the DataFrame API alone, so that it is the same on this machine, on a cluster and over Spark Connect.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow as pa

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


_BETWEEN_LOOKS = 0.1
"Seconds between looks at what tasks have told."


class DiskFull(UserError):
    """There was no room for a run's facts."""


def simulate(
    spark: SparkSession,
    store: CampaignFolder,
    runs: Sequence[PlannedRun],
    limits: RunLimits,
    *,
    costs: dict[str, float] | None = None,
    watch: Callable[[Progress], object] = lambda _: None,
    runner: str = SIMULATOR,
) -> list[dict[str, Any]]:
    """Do `runs`; run id, status, wall time and error of each.

    A run that fails is an answer; a full disk is a `DiskFull`.
    """
    if not runs:
        return []
    slots = count_slots(spark)
    portions = make_tasks(runs, store, limits, slots, costs=costs, runner=runner)
    progress = Progress(runs, slots)
    hearing = (
        _TaskCounter(spark, [len(each) for each in portions])
        if is_remote(spark)
        else _AccumulatorReports(spark)
    )
    frame = one_per_partition(spark, portions).mapInArrow(_working(hearing.tell), "told string")
    answers: list[dict[str, Any]] = []
    trouble: list[Exception] = []

    def job() -> None:
        try:
            with format_error("simulating"):
                answers.extend(json.loads(told) for told in frame.toArrow()["told"].to_pylist())
        except Exception as error:  # whatever it is, the caller's thread raises it
            trouble.append(error)

    thread = threading.Thread(target=job, name="simulate", daemon=True)
    thread.start()
    try:
        ended = False
        while not ended:
            thread.join(_BETWEEN_LOOKS)
            ended = not thread.is_alive()  # before the last look, so that all that was told is heard
            hearing.hear(progress)
            watch(progress)
            if progress.trouble:
                hearing.cancel()
                break
    finally:
        hearing.end()
    full = progress.trouble or next((told["error"] for told in answers if told["status"] == "disk full"), "")
    if full:
        raise DiskFull(f"{store.folder}: the disk is full ({full}); make room and run again")
    if trouble:
        raise trouble[0]
    return answers


def make_tasks(
    runs: Sequence[PlannedRun],
    store: CampaignFolder,
    limits: RunLimits,
    slots: int,
    *,
    costs: dict[str, float] | None = None,
    runner: str = SIMULATOR,
) -> list[list[RunTask]]:
    """The runs as tasks, those that share one together, the longest first."""
    costs = costs or estimate(runs, ())
    longest_first = sorted(runs, key=lambda run: (-costs[run.id], run.id))
    preload = find_installed(runs)
    said = {router: describe_router(router) for router in {run.router for run in runs}}
    task = partial(RunTask, staged=store.staged, seconds=limits.time, memory=limits.memory)
    return [
        [task(run, runner=runner, preload=preload, **said[run.router]) for run in each]
        for each in batch_runs(longest_first, slots)
    ]


def find_installed(runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """Return the installed protocols of `runs`, for workers to import before the first run asks for one."""
    return tuple(sorted({run.router for run in runs} & installed().keys()))


def _working(tell: Callable[[dict[str, Any]], object] | None) -> Callable[..., Iterator[pa.RecordBatch]]:
    """What a task does with the portion dealt to it."""
    check = make_check(package_version())

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import json
        import pickle

        import pyarrow as pa
        from pyspark import TaskContext

        check()  # an executor that came later may have other code: its facts would be under our version
        from roamcast.pipeline.running.task import check_version, execute_all

        context = TaskContext.get()
        again = context is not None and context.attemptNumber() > 0
        for batch in batches:
            tasks = [task for item in batch["item"].to_pylist() for task in pickle.loads(item)]
            for task in tasks:
                task.find_router()
                check_version(task.run)
            for outcome in execute_all(tasks, again):
                told = {key: outcome.get(key) for key in ("run", "status", "wall", "error")}
                if tell is not None:
                    tell(told)
                yield pa.RecordBatch.from_pydict({"told": [json.dumps(told)]})

    return work


class _AccumulatorReports:
    """What tasks tell as they end, over Spark's accumulators."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        told = self._told = self._context.accumulator([], _gatherer())
        self.tell = lambda outcome: told.add([outcome])
        self._heard = 0

    def hear(self, progress: Progress) -> None:
        if new := self._told.value[self._heard :]:
            self._heard += len(new)
            progress.update(new, monotonic())

    def cancel(self) -> None:
        self._context.cancelAllJobs()

    def end(self) -> None:
        pass


class _TaskCounter:
    """How many tasks have ended, which is all that Spark Connect tells while they run."""

    tell = None

    def __init__(self, spark: SparkSession, portions: Sequence[int]) -> None:
        self._spark = spark
        self._portions = portions
        self._ended = 0
        spark.registerProgressHandler(self._note)

    def _note(self, stages: Any, inflight_tasks: int, operation_id: str, done: bool) -> None:
        self._ended = max([self._ended, *(stage.num_completed_tasks for stage in stages or ())])

    def hear(self, progress: Progress) -> None:
        progress.count(sum(self._portions[: self._ended]), monotonic())

    def cancel(self) -> None:
        self._spark.interruptAll()

    def end(self) -> None:
        self._spark.removeProgressHandler(self._note)


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
