"""measure: facts -> one row of metrics for each run, of what is new or defined anew.

A Spark job over the lake: each task takes some runs of a batch and reads their rows, only the columns that
metrics need, each row group once. Rows of a run lie together, so nothing is shuffled, and a task holds a row
group of a long table at a time. Nothing depends on the order of rows or on how the runs are dealt out. What
the metrics are is declared in `roamcast.metrics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.campaign.tables import METRICS_TABLE
from roamcast.fingerprint import checked
from roamcast.lake.columns import spark_schema
from roamcast.lake.log import Batch, Snapshot
from roamcast.lake.rows import BatchFiles
from roamcast.lake.storage import StorageUrl
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.metric_input import READS, MetricInput, RunSettings
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import count_slots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_PER_SLOT = 4
"Enough that a slot which got long runs is not the last by far."

_LEAST_ROWS = 50_000
"Of a task: fewer are not worth one."

MEASURED = pa.schema([*METRICS_TABLE, pa.field("trouble", pa.string())])
"The metrics of a run, or why its rows cannot be read."


@dataclass(frozen=True)
class MeasureTask:
    """What one task measures: some runs of a batch, in order, each with what metrics must know of it."""

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
    """The metrics `names` of the runs in `settings`, as the schema `MEASURED`; the other columns are null.

    Without Spark it is done here.
    """
    portions = split_tasks(snapshot, settings, _TASKS_PER_SLOT * (count_slots(spark) if spark else 1))
    if not portions:
        return MEASURED.empty_table()
    if spark is None:
        found = [row for each in portions for row in measure_task(facts, each, constants, names)]
        return pa.Table.from_pylist(found, MEASURED)
    place = str(facts)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                rows = list(measure_task(StorageUrl(place), portions[number], constants, names))
                yield pa.RecordBatch.from_pylist(rows, MEASURED)

    asked = spark.range(0, len(portions), 1, len(portions))
    with format_error("making the table 'metrics'"):
        return asked.mapInArrow(checked(work), spark_schema(MEASURED)).toArrow().cast(MEASURED)


def split_tasks(snapshot: Snapshot, settings: Mapping[str, RunSettings], tasks: int) -> list[MeasureTask]:
    """The runs in `settings`, in portions of about as many rows, for about so many tasks."""
    total = sum(done.rows for run, done in snapshot.runs().items() if run in settings)
    enough = max(total // tasks, _LEAST_ROWS)
    portions = []
    for batch in snapshot.batches.values():
        chosen: list[tuple[str, RunSettings]] = []
        rows = 0
        lean = Batch(batch.name, {}, batch.files)  # a task need not know what every run took
        for run in sorted(batch.runs.keys() & settings.keys()):
            chosen.append((run, settings[run]))
            rows += batch.runs[run].rows
            if rows >= enough:
                portions.append(MeasureTask(lean, tuple(chosen)))
                chosen, rows = [], 0
        if chosen:
            portions.append(MeasureTask(lean, tuple(chosen)))
    return portions


def measure_task(
    facts: StorageUrl, portion: MeasureTask, constants: MetricConstants, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The rows of metrics of some runs of a batch."""
    with BatchFiles(facts, portion.batch, READS) as files:
        for run, setting in portion.runs:
            try:
                found = evaluate(MetricInput(_OneRun(files, run), setting, constants), names)
            except (OSError, pa.ArrowException, ValueError) as error:  # damage, or a file that is gone
                told = " ".join(str(error).split())
                yield {"run": run, "trouble": f"{type(error).__name__}: {told}"[:300]}
                continue
            yield {"run": run} | {name: None if x is None else float(x) for name, x in found.items()}


class _OneRun:
    """The rows of one run, as the metrics read them."""

    def __init__(self, files: BatchFiles, run: str) -> None:
        self.files = files
        self.run = run

    def read(self, table: str, *columns: str) -> pa.Table:
        return self.files.read(self.run, table, columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        return self.files.pieces(self.run, table, columns)
