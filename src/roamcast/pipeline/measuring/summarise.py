"""The stage summarise: statistics of metrics over seeds at each point, and differences between protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roamcast.campaign.tables import DIFFERENCES, SUMMARY
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.measuring.statistics import long_metrics, summarise_values
from roamcast.results.intervals import Reals, difference_interval, interval

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def summarise(metrics: DataFrame, points: DataFrame) -> pa.Table:
    """Return the table `summary`."""
    values = points.join(long_metrics(metrics), "run")
    found = summarise_values(values, ["sweep", "point", "protocol", "metric"], "value").toArrow()
    scale = np.array([METRICS[name].scale for name in found["metric"].to_pylist()], np.str_)
    lower, upper = interval(scale, *(reals(found, name) for name in _SPREAD))
    made = {"half": (upper - lower) / 2, "lower": lower, "upper": upper}
    return with_columns(found, made).select(SUMMARY.names)


def compare(metrics: DataFrame, points: DataFrame) -> pa.Table:
    """Return the table `differences`: every pair of protocols, compared on common seeds."""
    from pyspark.sql import functions as f

    values = points.join(long_metrics(metrics), "run").drop("run")
    other = values.withColumnsRenamed({"protocol": "other", "value": "theirs", "inverse": "of_theirs"})
    same = ["sweep", "point", "metric", "seed"]
    paired = values.join(other, same).where(f.col("protocol") < f.col("other"))
    taken = paired.withColumns(
        {
            "difference": f.col("value") - f.col("theirs"),
            "inverse": f.greatest("inverse", "of_theirs"),
        }
    )
    keys = ["sweep", "point", "metric", "protocol", "other"]
    found = summarise_values(taken, keys, "difference").toArrow()
    lower, upper = difference_interval(*(reals(found, name) for name in _SPREAD))
    return with_columns(found, {"half": (upper - lower) / 2}).select(DIFFERENCES.names)


_SPREAD = ("mean", "deviation", "count", "trials")


def reals(table: pa.Table, name: str) -> Reals:
    """Return a column of numbers, with NaN for null."""
    return np.asarray(table[name].cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def with_columns(table: pa.Table, columns: dict[str, Reals]) -> pa.Table:
    """Return the table with `columns` added, with null for NaN."""
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values, pa.float64(), from_pandas=True))
    return table
