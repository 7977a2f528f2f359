"""Means and standard deviations over seeds in Spark; the result does not depend on the order of rows."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import TYPE_CHECKING

from roamcast.metrics.declarations import METRICS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def long_metrics(metrics: DataFrame) -> DataFrame:
    """Return the metrics table in long form: a row per run and metric, with run, metric, value and inverse.

    `inverse` is 1 / the number of trials of a share; null for metrics that are not shares.
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
    """Return the sum of an array in ascending order: the sum of floats depends on the order."""
    from pyspark.sql import functions as f

    return f.aggregate(f.array_sort(values), f.lit(0.0), lambda total, value: total + value)


def summarise_values(rows: DataFrame, keys: list[str], value: str) -> DataFrame:
    """Return the statistics of `value` by `keys`.

    These are count, mean, standard deviation, minimum, maximum, and the harmonic mean of the trials.
    Nulls and NaNs are left out. `rows` have a column `inverse`, as `long_metrics` returns it.
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
