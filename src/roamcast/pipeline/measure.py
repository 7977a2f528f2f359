"""measure: facts -> one row of metrics for each run that is done.

A Spark job over the plan: each task takes some runs and reads their facts, only the columns that metrics
need, once. A run's facts lie together, so nothing is ever shuffled. Nothing depends on the order of rows
or on how Spark deals the runs out. What the metrics are is declared in `roamcast.metrics`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.metrics.constants import Constants
from roamcast.pipeline.executors import count_slots
from roamcast.pipeline.tables import METRICS_TABLE, spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

_TASKS_PER_SLOT = 4
"Enough that a slot which got long runs is not the last by far."


def measure(plan: DataFrame, runs_folder: Path, constants: Constants) -> DataFrame:
    """The table `metrics` for the rows of `plan`, whose facts are in `runs_folder`/run=ID."""
    folder = str(runs_folder)
    tasks = _TASKS_PER_SLOT * count_slots(plan.sparkSession)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [measure_run(folder, run, constants) for run in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, METRICS_TABLE)

    asked = plan.select("run", "nodes", "warmup", "radio_range", "header").repartition(tasks)
    return asked.mapInArrow(work, spark_schema(METRICS_TABLE))


def measure_run(runs_folder: str, run: dict[str, Any], constants: Constants) -> dict[str, Any]:
    """The row of metrics of one run."""
    from roamcast.facts.columns import Folder
    from roamcast.metrics.declarations import evaluate
    from roamcast.metrics.measured import Measured, Setting

    setting = Setting(run["nodes"], run["warmup"], run["radio_range"], run["header"])
    found = evaluate(Measured(Folder(Path(runs_folder) / f"run={run['run']}"), setting, constants))
    return {"run": run["run"]} | {
        name: None if value is None else float(value) for name, value in found.items()
    }
