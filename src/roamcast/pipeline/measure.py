"""measure: facts -> one row of metrics for each run that is done.

A Spark job over the plan: each task takes some runs and reads their facts, only the columns that metrics
need, once. A run's facts lie together, so nothing is ever shuffled. Nothing depends on the order of rows
or on how Spark deals the runs out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.pipeline.campaign import Energy, Measure
from roamcast.pipeline.columns import read
from roamcast.pipeline.metrics import METRICS
from roamcast.pipeline.tables import METRICS_TABLE, spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

Found = dict[str, float | None]

_TASKS_PER_SLOT = 4
"Enough that a slot which got long runs is not the last by far."


def measure(plan: DataFrame, runs_folder: Path, constants: Measure) -> DataFrame:
    """The table `metrics` for the rows of `plan`, whose facts are in `runs_folder`/run=ID."""
    folder = str(runs_folder)
    tasks = _TASKS_PER_SLOT * plan.sparkSession.sparkContext.defaultParallelism

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [measure_run(folder, run, constants) for run in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, METRICS_TABLE)

    asked = plan.select("run", "warmup", "radio_range", "header").repartition(tasks)
    return asked.mapInArrow(work, spark_schema(METRICS_TABLE))


def measure_run(runs_folder: str, run: dict[str, Any], constants: Measure) -> dict[str, Any]:
    """The row of metrics of one run."""
    from roamcast.pipeline.tally import tally_drops, tally_transmissions

    folder, warmup = Path(runs_folder) / f"run={run['run']}", run["warmup"]
    found: Found = _story(folder, warmup)
    found |= tally_transmissions(folder, warmup)
    found |= tally_drops(folder, warmup)
    found["neighbours"] = _neighbours(folder, run["radio_range"], warmup)
    found |= _derive(found, run["header"], constants)
    return {"run": run["run"]} | {name: _real(found[name]) for name in METRICS}


def _real(value: float | None) -> float | None:
    return None if value is None else float(value)


def _story(folder: Path, warmup: float) -> Found:
    """Deliveries, delays and answers."""
    from roamcast.pipeline.answers import matcher
    from roamcast.pipeline.arithmetic import measure_pairs, measure_requests

    published = read(folder, "publications", "publication", "time", "event")
    expected = read(folder, "expectations", "publication", "node")
    delivered = read(folder, "deliveries", "publication", "node", "time")
    interests = read(folder, "interests", "time", "node", "wanted", "begins")
    found = measure_pairs(
        (published["publication"].to_numpy(), published["time"].to_numpy()),
        (expected["publication"].to_numpy(), expected["node"].to_numpy()),
        (delivered["publication"].to_numpy(), delivered["node"].to_numpy(), delivered["time"].to_numpy()),
        warmup,
    )
    said = dict(zip(published["publication"].to_pylist(), published["event"].to_pylist(), strict=True))
    heard = zip(*(delivered[name].to_pylist() for name in ("time", "node", "publication")), strict=True)
    return found | measure_requests(
        zip(*(column.to_pylist() for column in interests.columns), strict=True),
        ((time, node, said[about]) for time, node, about in heard if about in said),
        warmup,
        matcher(),
    )


def _neighbours(folder: Path, reach: float, warmup: float) -> float | None:
    from roamcast.pipeline.arithmetic import count_neighbours

    return count_neighbours(read(folder, "legs", *TABLES["legs"].names), reach, warmup)


def _derive(found: Found, header: int, constants: Measure) -> Found:
    """What follows from other metrics."""
    messages, events = found["messages"] or 0.0, found["messages_event"] or 0.0
    return {
        "normalised_overhead": messages + (constants.gamma - 1) * events,
        "overhead_per_event": _divide(messages, found["publications"]),
        "transmissions_per_delivery": _divide(messages, found["delivered"]),
        "energy": _spend(found, header, constants.energy),
    }


def _divide(number: float, by: float | None) -> float | None:
    return number / by if by else None


def _spend(found: Found, header: int, cost: Energy) -> float | None:
    """Joules by Feeney's linear model; None where nobody knows how many neighbours hear a frame."""
    near = found["neighbours"]
    if near is None:
        return None
    frames, payload = found["frames"] or 0.0, found["bytes"] or 0.0
    broadcasts, broadcast_payload = found["broadcast_frames"] or 0.0, found["broadcast_bytes"] or 0.0
    broadcast = broadcast_payload + header * broadcasts
    unicasts, unicast = frames - broadcasts, payload + header * frames - broadcast
    microjoules = (
        cost.broadcast_send_per_byte * broadcast
        + cost.broadcast_send_per_frame * broadcasts
        + near * (cost.broadcast_receive_per_byte * broadcast + cost.broadcast_receive_per_frame * broadcasts)
        + (cost.unicast_send_per_byte + cost.unicast_receive_per_byte) * unicast
        + (cost.unicast_send_per_frame + cost.unicast_receive_per_frame) * unicasts
        + max(near - 1, 0.0) * (cost.overhear_per_byte * unicast + cost.overhear_per_frame * unicasts)
    )
    return microjoules / 1e6
