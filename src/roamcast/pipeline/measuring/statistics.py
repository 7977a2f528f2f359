"""Means and deviations over seeds, in Spark; the same number whatever the order of rows."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING

from roamcast.metrics.declarations import METRICS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def long_metrics(metrics: DataFrame) -> DataFrame:
    """The metrics table with a row for each run and metric: run, metric, value and inverse.

    `inverse` is 1 / the number of trials that a share is of; null of amounts.
    """
    from pyspark.sql import functions as f

    rows = []
    for name, metric in METRICS.items():
        trials = reduce(mul, map(f.col, metric.trials)) if metric.trials else None
        inverse = f.lit(None) if trials is None else f.try_divide(f.lit(1.0), trials)
        rows.append(
            f.struct(
                f.lit(name).alias("metric"),
                f.col(name).cast("double").alias("value"),
                inverse.cast("double").alias("inverse"),
            )
        )
    return metrics.select("run", f.explode(f.array(*rows)).alias("row")).select("run", "row.*")


def ordered_sum(values: str | Column) -> Column:
    """The sum of an array, added up from the smallest: floats added in another order give another sum."""
    from pyspark.sql import functions as f

    return f.aggregate(f.array_sort(values), f.lit(0.0), lambda total, value: total + value)


def summarise_values(rows: DataFrame, keys: list[str], value: str) -> DataFrame:
    """For each `keys`: count, mean, deviation, least and most of `value`, and trials (harmonic mean).

    Nulls and NaNs do not count. `rows` have a column `inverse`, as `long_metrics` does.
    """
    from pyspark.sql import functions as f

    return (
        rows.where(f.col(value).isNotNull() & ~f.isnan(value))
        .groupBy(*keys)
        .agg(
            f.array_sort(f.collect_list(value)).alias("values"),
            f.collect_list("inverse").alias("inverses"),
        )
        .withColumn("count", f.size("values").cast("long"))
        .withColumns({"least": f.col("values")[0], "most": f.element_at("values", -1)})
        # Rounding must not make the mean of equal values another value.
        .withColumn("mean", f.greatest("least", f.least("most", ordered_sum("values") / f.col("count"))))
        .withColumn("squares", f.transform("values", lambda v: (v - f.col("mean")) * (v - f.col("mean"))))
        .withColumn("deviation", f.sqrt(f.try_divide(ordered_sum("squares"), f.col("count") - 1)))
        .withColumn("trials", f.try_divide(f.size("inverses").cast("double"), ordered_sum("inverses")))
        .select(*keys, "count", "mean", "deviation", "trials", "least", "most")
    )
