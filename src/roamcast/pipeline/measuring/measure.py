"""Measurement of runs: a Spark job that computes one row of metrics from the facts of each run.

Each task reads some runs of a batch, only the columns that metrics need, and each row group once. The rows
of a run are contiguous, so nothing is shuffled, and a task holds one row group of a long table at a time.
The result does not depend on the division into tasks. `roamcast.metrics` declares the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.campaign.tables import METRICS_TABLE
from roamcast.fingerprint import checked
from roamcast.lake.cells import sort_key
from roamcast.lake.columns import spark_schema
from roamcast.lake.reading import BatchFiles
from roamcast.lake.snapshot import Batch, CommittedRun, Snapshot
from roamcast.lake.storage import StorageUrl
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.metric_input import READS, MetricInput, RunSettings
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import count_slots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_PER_SLOT = 4
"Number of tasks per slot, which balances runs of different length."

_ROWS_PER_RUN = 10_000
"Number of rows that take as long to measure as a run without rows: 2.5 ms."

_LEAST_EFFORT = 50_000
"Minimum effort of a task [rows]."

_SMALL = 1_000_000
"Effort that takes one process a quarter of a second [rows]."

MEASURED = pa.schema([*METRICS_TABLE, pa.field("error", pa.string())])
"The metrics of a run, or why its rows cannot be read."


@dataclass(frozen=True)
class MeasureTask:
    """The runs of a batch that one task measures, in order, each with its settings."""

    batch: Batch
    runs: tuple[tuple[str, RunSettings], ...]


def measure(
    spark: SparkSession | None,
    facts: StorageUrl,
    snapshot: Snapshot,
    settings: Mapping[str, RunSettings],
    *,
    constants: MetricConstants,
    names: Sequence[str] = tuple(METRICS),
) -> pa.Table:
    """Return the metrics `names` of the runs in `settings`, as `MEASURED`; other columns are null.

    Without Spark, this process measures them.
    """
    tasks = split_tasks(snapshot, settings, _TASKS_PER_SLOT * (count_slots(spark) if spark else 1))
    if not tasks:
        return MEASURED.empty_table()
    if spark is None:
        return pa.Table.from_batches(_measure_all(facts, tasks, constants, names), MEASURED)
    place = str(facts)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            chosen = [tasks[number] for number in batch["id"].to_pylist()]
            yield from _measure_all(StorageUrl(place), chosen, constants, names)

    numbers = spark.range(0, len(tasks), 1, len(tasks))
    with format_error("making the table 'metrics'"):
        return numbers.mapInArrow(checked(work), spark_schema(MEASURED)).toArrow().cast(MEASURED)


def split_tasks(snapshot: Snapshot, settings: Mapping[str, RunSettings], count: int) -> list[MeasureTask]:
    """Divide the runs in `settings` into about `count` tasks of similar effort."""
    total = sum(_effort(done) for run, done in snapshot.runs().items() if run in settings)
    enough = max(total // count, _LEAST_EFFORT)
    tasks = []
    for batch in snapshot.batches.values():
        chosen: list[tuple[str, RunSettings]] = []
        effort = 0
        lean = Batch(batch.name, {}, batch.files)  # a task need not know what every run took
        for _, run in sorted(
            (sort_key(run, done.cell), run) for run, done in batch.runs.items() if run in settings
        ):
            chosen.append((run, settings[run]))
            effort += _effort(batch.runs[run])
            if effort >= enough:
                tasks.append(MeasureTask(lean, tuple(chosen)))
                chosen, effort = [], 0
        if chosen:
            tasks.append(MeasureTask(lean, tuple(chosen)))
    return tasks


def is_small(runs: Iterable[CommittedRun]) -> bool:
    """Return whether one process measures the runs sooner than a Spark job starts."""
    return sum(map(_effort, runs)) < _SMALL


def _effort(done: CommittedRun) -> int:
    """Return the effort to measure a run [rows]."""
    return done.rows + _ROWS_PER_RUN


def _measure_all(
    facts: StorageUrl, tasks: Iterable[MeasureTask], constants: MetricConstants, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the metrics of the runs of each task; as objects they take 4 kB of memory a run."""
    for task in tasks:
        yield pa.RecordBatch.from_pylist(list(measure_task(facts, task, constants, names)), MEASURED)


def measure_task(
    facts: StorageUrl, task: MeasureTask, constants: MetricConstants, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the metrics of each run of a task, or the reason why its rows cannot be read."""
    with BatchFiles(facts, task.batch, READS) as files:
        for run, setting in task.runs:
            try:
                found = evaluate(MetricInput(_OneRun(files, run), setting, constants), names)
            except (OSError, pa.ArrowException, ValueError) as error:  # damage, or a file that is gone
                text = " ".join(str(error).split())
                yield {"run": run, "error": f"{type(error).__name__}: {text}"[:300]}
                continue
            yield {"run": run} | {name: None if x is None else float(x) for name, x in found.items()}


class _OneRun:
    """The rows of one run, in the interface of the metrics."""

    def __init__(self, files: BatchFiles, run: str) -> None:
        self.files = files
        self.run = run

    def read(self, table: str, *columns: str) -> pa.Table:
        return self.files.read(self.run, table, columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        return self.files.pieces(self.run, table, columns)
