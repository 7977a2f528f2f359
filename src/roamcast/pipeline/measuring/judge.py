"""judge: metrics x claims -> verdicts, each check with our number and whether it held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.campaign.tables import VERDICTS
from roamcast.pipeline.measuring.statistics import interval, summarise_values
from roamcast.pipeline.measuring.summarise import long_metrics

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def judge(metrics: DataFrame, checks: DataFrame, terms: DataFrame, seeds: int) -> DataFrame:
    """The table `verdicts`; a seed counts in a check if all the check's values are there for it."""
    from pyspark.sql import functions as f

    part = ["claim", "part"]
    values = terms.join(long_metrics(metrics).where(f.col("value").isNotNull()), ["run", "metric"])
    by_seed = values.groupBy(*part, "seed").agg(
        f.count("*").alias("found"),
        f.array_sort(f.collect_list(f.col("above") * f.col("value"))).alias("above"),
        f.array_sort(f.collect_list(f.col("below") * f.col("value"))).alias("below"),
    )
    whole = by_seed.join(checks.select(*part, "terms", "divided"), part).where("found = terms")
    sums = [f.aggregate(name, f.lit(0.0), lambda total, value: total + value) for name in ("above", "below")]
    ours = whole.withColumn("value", f.when(f.col("divided"), f.try_divide(*sums)).otherwise(sums[0]))
    means = summarise_values(ours, part, "value", seeds).withColumnRenamed("mean", "ours")
    judged = checks.join(means.select(*part, "count", "ours", "half", "least", "most"), part, "left").fillna(
        0, ["count"]
    )
    low, high = interval(f.col("ours"), f.col("half"), f.col("scale"))
    held = _within(f.col("ours"))
    agreed = f.when(held, _within(low) & _within(high)).otherwise(~_touches(low, high))
    return (
        judged.withColumns({"held": held, "lower": low, "upper": high})
        .withColumn("sure", f.when(f.col("half").isNotNull(), agreed))
        .select(*VERDICTS.names)
    )


def _within(number: Column) -> Column:
    from pyspark.sql import functions as f

    yes = f.lit(True)
    strict, low, high = f.col("strict"), f.col("low"), f.col("high")
    above = f.when(low.isNull(), yes).otherwise(f.when(strict, number > low).otherwise(number >= low))
    below = f.when(high.isNull(), yes).otherwise(f.when(strict, number < high).otherwise(number <= high))
    return f.when(number.isNotNull(), above & below)


def _touches(low: Column, high: Column) -> Column:
    """Whether an interval reaches into the bounds."""
    from pyspark.sql import functions as f

    least, most = f.col("low"), f.col("high")
    return (most.isNull() | (low <= most)) & (least.isNull() | (high >= least))
