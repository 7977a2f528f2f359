"""Means over seeds with their intervals, in Spark; the same number whatever the order of rows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CONFIDENCE = 0.95


@cache
def student(count: int, together: int = 1) -> float:
    """How many standard errors the interval of a mean over `count` values reaches to each side.

    With `together` such intervals, all of them hold at once with the confidence of one (Bonferroni).
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1 - (1 - CONFIDENCE) / 2 / together))


def interval(mean: Column, half: Column, scale: Column) -> tuple[Column, Column]:
    """The ends of the 95 % interval of a mean, where the numbers on its scale can lie.

    The Student-t interval is taken of the mean's logit (a share) or logarithm (an amount) by the delta
    method and brought back, so that no end leaves [0, 1], or falls below 0; on any other scale it is
    mean ± half. Null where half is.
    """
    from pyspark.sql import functions as f

    share = (scale == "share") & (mean > 0) & (mean < 1)
    amount = (scale == "amount") & (mean > 0)
    logit, wide = f.log(mean / (1 - mean)), half / (mean * (1 - mean))
    ends = []
    for sign in (-1, 1):
        of_share = 1 / (1 + f.exp(-(logit + sign * wide)))
        of_amount = mean * f.exp(sign * half / mean)
        ends.append(f.when(share, of_share).when(amount, of_amount).otherwise(mean + sign * half))
    return ends[0], ends[1]


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
