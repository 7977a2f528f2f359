"""Run random worlds with all protocols that can serve them; one Spark task per world, metrics only.

Facts stay in memory and are not kept. A job appends the rows of a batch of worlds to a folder of Parquet
files when the batch is done, so that an interrupted job continues with the first missing batch.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.advisor.drawing.draw import digest_world, draw_world
from roamcast.campaign.campaign import RunLimits
from roamcast.campaign.version import code_version
from roamcast.errors import UserError
from roamcast.fingerprint import checked
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.running.supervisor import SupervisorDied
from roamcast.pipeline.running.task import SIMULATOR, supervisor_of
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import count_slots, one_per_partition
from roamcast.routing.catalogue import find, working
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN_METRICS = (
    *("publications", "expected", "delivery_rate", "delay_mean", "delay_p95"),
    *("messages", "airtime", "energy"),
)
"The metrics of a run that are kept."

COLUMNS = (
    "world long, protocol string, fingerprint string, version string, error string, cpu double, "
    + ", ".join(f"{name} double" for name in RUN_METRICS)
)
"The columns of the table of runs; `error` is empty and the metrics are set if the run ended well."

_ROW = pa.schema(
    [("world", pa.int64())]
    + [(name, pa.string()) for name in ("protocol", "fingerprint", "version", "error")]
    + [(name, pa.float64()) for name in ("cpu", *RUN_METRICS)]
)

_WORLDS_PER_SLOT = 8
"Worlds of a batch per task slot: an interruption loses at most one batch."


def run_worlds(
    spark: SparkSession,
    out: str,
    worlds: Iterable[int],
    limits: RunLimits,
    watch: Callable[[int, int], object] = lambda done, total: None,
) -> int:
    """Run the worlds that the folder `out` does not have, and append their rows; return their number.

    `watch` is called with the number of worlds done and the total after each batch.
    """
    wanted = list(dict.fromkeys(worlds))
    done = read_worlds(spark, out)
    left = [world for world in wanted if world not in done]
    size = _WORLDS_PER_SLOT * count_slots(spark)
    work = partial(run_batches, limits.time, limits.memory)
    watch(len(wanted) - len(left), len(wanted))
    for first in range(0, len(left), size):
        batch = left[first : first + size]
        frame = one_per_partition(spark, batch).mapInArrow(checked(work), COLUMNS)
        with format_error("running worlds"):
            rows = spark.createDataFrame(frame.toArrow())
            rows.coalesce(1).write.mode("append").parquet(out)  # one file per batch, not one per world
        watch(len(wanted) - len(left) + first + len(batch), len(wanted))
    return len(left)


def read_worlds(spark: SparkSession, out: str) -> set[int]:
    """Return the worlds that the folder has, drawn as they are drawn today; none if there is no folder."""
    from pyspark.errors import AnalysisException

    try:
        table = spark.read.schema(COLUMNS).parquet(out)
        found = table.select("world", "fingerprint").distinct().collect()
    except AnalysisException:
        return set()
    other = [row["world"] for row in found if digest_world(row["world"]) != row["fingerprint"]]
    if other:
        raise UserError(f"{out}: world {min(other)} was drawn from other ranges; write to another folder")
    return {row["world"] for row in found}


def run_batches(seconds: float, memory: float, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of each world in the batches (pickled numbers in the column `item`)."""
    import pickle

    for batch in batches:
        for item in batch["item"].to_pylist():
            yield pa.RecordBatch.from_pylist(list(run_world(pickle.loads(item), seconds, memory)), _ROW)


def run_world(world: int, seconds: float, memory: float) -> Iterator[dict[str, Any]]:
    """Yield one row per protocol that can serve the world; each run has `seconds` and bytes of `memory`.

    The runs share a process. A run that exceeds a limit ends it, and the next protocol gets a new one.
    """
    scenario = draw_world(world)
    names = [name for name in working()[0] if scenario.location or not find(name).needs_location]
    known = {"world": world, "fingerprint": digest_world(world)}
    left = list(names)
    while left:
        try:
            work = partial(_simulate_all, scenario.model_dump_json(by_alias=True), left, world)
            result = supervisor_of(SIMULATOR, tuple(names)).run(work, seconds, memory)
        except SupervisorDied:
            result = {"reports": [], "died": signal.SIGKILL}
        for name, report in zip(left, result["reports"], strict=False):
            yield known | {"protocol": name, "version": code_version(name)} | report
        left = left[len(result["reports"]) :]
        if left and ("limit" in result or "died" in result):
            ended = f"exceeded its limit of {result['limit']}" if "limit" in result else "its process died"
            yield known | {"protocol": left.pop(0), "error": ended}


def _simulate_all(scenario: str, protocols: Iterable[str], seed: int) -> Iterator[dict[str, Any]]:
    """Yield the metrics of a run of each protocol, or its error."""
    world = Scenario.model_validate_json(scenario)
    for protocol in protocols:
        try:
            values = evaluate(metric_input(simulate(world, protocol, seed)), RUN_METRICS)
            yield {"error": "", **values}
        except Exception as error:  # a run that fails is a row
            yield {"error": f"{type(error).__name__}: {error}"}
