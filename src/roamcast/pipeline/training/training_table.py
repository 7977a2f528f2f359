"""The training table: one row per world and protocol, with the features of the world and the metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from roamcast.advisor.drawing.draw import WARMUP, draw_world
from roamcast.advisor.features import FEATURES, describe
from roamcast.errors import UserError
from roamcast.fingerprint import checked
from roamcast.pipeline.training.world_runs import RUN_METRICS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

HELD_OUT = 5
"Worlds whose number is a multiple of this are held out: no model, choice or calibration sees them."

LEAST_EXPECTED = 30
"Worlds with fewer expected deliveries are left out: their delivery rates are mostly chance."

_FEATURES = pa.schema(
    [("world", pa.int64()), ("seconds", pa.float64())] + [(name, pa.float64()) for name in FEATURES]
)


def make_table(spark: SparkSession, data: str) -> DataFrame:
    """Return the training table of a folder of runs (`roamcast advisor data`), or a table made earlier."""
    from pyspark.errors import AnalysisException

    try:
        runs = spark.read.parquet(data)
    except AnalysisException:
        raise UserError(
            f"{data}: not found, or no Parquet files; make them with roamcast advisor data"
        ) from None
    missing = [name for name in ("world", "protocol", *RUN_METRICS) if name not in runs.columns]
    if missing:
        raise UserError(f"{data}: has no column {missing[0]}; expected the table of roamcast advisor data")
    if set(FEATURES) <= set(runs.columns):
        return runs
    worlds = runs.select("world").distinct().repartition(spark.sparkContext.defaultParallelism)
    columns = ", ".join(f"{name} {'long' if name == 'world' else 'double'}" for name in _FEATURES.names)
    features = worlds.mapInArrow(checked(describe_batches), columns)
    ended_well = runs.where("error = '' and delivery_rate is not null")
    return ended_well.drop("error", "fingerprint").join(features, "world").orderBy("world", "protocol")


def describe_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the features of each world (column `world`), and the time that its metrics count [s]."""
    for batch in batches:
        rows = []
        for world in batch["world"].to_pylist():
            scenario = draw_world(world)
            rows.append({"world": world, "seconds": scenario.duration - WARMUP, **describe(scenario)})
        yield pa.RecordBatch.from_pylist(rows, _FEATURES)


def write_table(rows: pd.DataFrame, file: Path) -> None:
    """Write the training table to one small Parquet file, sorted; numbers have single precision."""
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(rows.sort_values(["world", "protocol"]), preserve_index=False)
    kinds = {pa.float64(): pa.float32()}
    schema = pa.schema([(field.name, kinds.get(field.type, field.type)) for field in table.schema])
    pq.write_table(table.cast(schema), file, compression="zstd", compression_level=19)


def split_table(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of training and of held-out worlds, without worlds of few expected deliveries."""
    enough = rows[rows["expected"] >= LEAST_EXPECTED]
    held_out = enough["world"] % HELD_OUT == 0
    return enough[~held_out].reset_index(drop=True), enough[held_out].reset_index(drop=True)
