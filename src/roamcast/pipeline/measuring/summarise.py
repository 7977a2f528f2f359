"""summarise: metrics of runs -> each metric at each point over seeds, and between protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.campaign.tables import DIFFERENCES, SUMMARY
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.measuring.statistics import interval, summarise_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def long_metrics(metrics: DataFrame) -> DataFrame:
    """The metrics table with a row for each run and metric: run, metric, value."""
    return metrics.unpivot("run", list(METRICS), "metric", "value")


def summarise(metrics: DataFrame, points: DataFrame, seeds: int) -> DataFrame:
    """The table `summary`; `seeds` is the most seeds that a point has."""
    from pyspark.sql import functions as f

    values = points.join(long_metrics(metrics), "run")
    keys = ["sweep", "point", "protocol", "metric"]
    shares = [name for name, metric in METRICS.items() if metric.scale == "share"]
    scale = f.when(f.col("metric").isin(shares), "share").otherwise("amount")
    lower, upper = interval(f.col("mean"), f.col("half"), scale)
    found = summarise_values(values, keys, "value", seeds)
    return found.withColumns({"lower": lower, "upper": upper}).select(*SUMMARY.names)


def compare(metrics: DataFrame, points: DataFrame, seeds: int) -> DataFrame:
    """The table `differences`: every pair of protocols, seed by seed, so that common luck cancels."""
    from pyspark.sql import functions as f

    values = points.join(long_metrics(metrics), "run").drop("run")
    other = values.withColumnsRenamed({"protocol": "other", "value": "theirs"})
    same = ["sweep", "point", "metric", "seed"]
    paired = values.join(other, same).where(f.col("protocol") < f.col("other"))
    taken = paired.withColumn("difference", f.col("value") - f.col("theirs"))
    keys = ["sweep", "point", "metric", "protocol", "other"]
    return summarise_values(taken, keys, "difference", seeds).select(*DIFFERENCES.names)
