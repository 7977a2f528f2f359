"""Means over seeds with their intervals, in Spark; the same number whatever the order of rows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CONFIDENCE = 0.95


@cache
def student(count: int) -> float:
    """How many standard errors the interval of a mean over `count` values reaches to each side."""
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, count - 1))


def ordered_sum(values: str) -> Column:
    """The sum of an array, added up from the smallest: floats added in another order give another sum."""
    from pyspark.sql import functions as f

    return f.aggregate(f.array_sort(values), f.lit(0.0), lambda total, value: total + value)


def summarise_values(rows: DataFrame, keys: list[str], value: str, most: int) -> DataFrame:
    """For each `keys`: count, mean, deviation, half, least and most of `value`; at most `most` rows a key.

    Nulls and NaNs do not count.
    """
    from pyspark.sql import functions as f

    gathered = (
        rows.where(f.col(value).isNotNull() & ~f.isnan(value))
        .groupBy(*keys)
        .agg(f.array_sort(f.collect_list(value)).alias("values"))
        .withColumn("count", f.size("values").cast("long"))
        .withColumn("mean", ordered_sum("values") / f.col("count"))
        .withColumn("squares", f.transform("values", lambda v: (v - f.col("mean")) * (v - f.col("mean"))))
        .withColumn("deviation", f.sqrt(f.try_divide(ordered_sum("squares"), f.col("count") - 1)))
    )
    # One factor per possible count; counts 0 and 1 have no interval.
    reach = [student(count) if count > 1 else None for count in range(most + 1)]
    factors = f.array(*(f.lit(factor).cast("double") for factor in reach))
    error = f.col("deviation") / f.sqrt("count")
    return gathered.withColumn("half", f.element_at(factors, f.col("count").cast("int") + 1) * error).select(
        *keys,
        "count",
        "mean",
        "deviation",
        "half",
        f.col("values")[0].alias("least"),
        f.element_at("values", -1).alias("most"),
    )
