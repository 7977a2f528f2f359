"""Verdicts on claims: the value of each check, its confidence interval and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.campaign.tables import HELD, NOT_HELD, NOT_JUDGED, UNDECIDED, VERDICTS
from roamcast.pipeline.measuring.statistics import long_metrics, ordered_sum
from roamcast.pipeline.measuring.summarise import reals, with_columns
from roamcast.results.intervals import Reals, interval, quotient_interval

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Flags = npt.NDArray[np.bool_]

ROUNDING = 1e-12
"A weighted sum below this share of the sum of its terms' sizes is 0: the terms cancel."


def judge(metrics: DataFrame, checks: DataFrame, terms: DataFrame) -> pa.Table:
    """Return the table `verdicts`; a seed counts in a check if it has all values of the check."""
    found = _sum_up(metrics, checks, terms).toArrow()
    ours, lower, upper = _find_numbers(found)
    numbers = {"ours": ours, "half": (upper - lower) / 2, "lower": lower, "upper": upper}
    inside, words = _decide(found, ours, lower, upper)
    return (
        with_columns(found, numbers)
        .append_column("inside", pa.array(inside, mask=np.isnan(ours)))
        .append_column("verdict", pa.array(words, pa.string()))
        .select(VERDICTS.names)
    )


def _sum_up(metrics: DataFrame, checks: DataFrame, terms: DataFrame) -> DataFrame:
    """Return means, variances and covariance over seeds of the two sums of each check, and its trials."""
    from pyspark.sql import functions as f

    part = ["claim", "part"]
    values = terms.join(long_metrics(metrics).where(f.col("value").isNotNull()), ["run", "metric"])
    weight = f.col("above") * f.col("above") * f.col("inverse")
    by_seed = values.groupBy(*part, "seed").agg(
        f.count("*").alias("found"),
        _weighted_sum("above").alias("a"),
        _weighted_sum("below").alias("b"),
        # The side of a difference with fewer trials determines its precision.
        *(
            ordered_sum(f.collect_list(f.when(side, weight))).alias(name)
            for name, side in (("of", f.col("above") > 0), ("to", f.col("above") < 0))
        ),
    )
    whole = by_seed.join(checks.select(*part, "terms", "divisor"), part).where("found = terms")
    usable = f.when(f.col("divisor") == "positive", f.col("b") > 0).otherwise(f.col("b") != 0)
    number = f.when(f.col("divisor") == "none", f.col("a")).when(usable, f.try_divide("a", "b"))
    seeds = (
        whole.withColumns({"number": number, "inverse": f.greatest("of", "to")})
        .groupBy(*part)
        .agg(
            f.array_sort(f.collect_list(f.struct("seed", "a", "b"))).alias("seeds"),
            f.min("number").alias("least"),
            f.max("number").alias("most"),
            f.collect_list("inverse").alias("inverses"),
        )
        .withColumn("count", f.size("seeds").cast("long"))
        .withColumn("trials", f.try_divide(f.col("count").cast("double"), ordered_sum("inverses")))
        .withColumns({f"mean_{side}": _mean(side) for side in "ab"})
        .withColumns({"aa": _covariance("a", "a"), "bb": _covariance("b", "b"), "ab": _covariance("a", "b")})
        .drop("seeds", "inverses")
    )
    return checks.join(seeds, part, "left").fillna(0, ["count"])


def _weighted_sum(weight: str) -> Column:
    """Return the sum of the values by their weights; 0 if only a rounding error is left of it."""
    from pyspark.sql import functions as f

    term = f.col(weight) * f.col("value")
    total, size = ordered_sum(f.collect_list(term)), ordered_sum(f.collect_list(f.abs(term)))
    return f.when(f.abs(total) > ROUNDING * size, total).otherwise(0.0)


def _mean(side: str) -> Column:
    from pyspark.sql import functions as f

    return f.aggregate("seeds", f.lit(0.0), lambda total, seed: total + seed[side]) / f.col("count")


def _covariance(one: str, other: str) -> Column:
    from pyspark.sql import functions as f

    total = f.aggregate(
        "seeds",
        f.lit(0.0),
        lambda sum, seed: sum + (seed[one] - f.col(f"mean_{one}")) * (seed[other] - f.col(f"mean_{other}")),
    )
    return f.try_divide(total, f.col("count") - 1)


def _find_numbers(found: pa.Table) -> tuple[Reals, Reals, Reals]:
    """Return the value of each check and the bounds of its interval; NaN if there is none.

    A quotient is that of sums over seeds: a seed with a base near zero would dominate a mean of quotients.
    """
    above, below, count = (reals(found, name) for name in ("mean_a", "mean_b", "count"))
    variances = [reals(found, name) for name in ("aa", "bb", "ab")]
    divisor, scale = (np.array(found[name].to_pylist(), np.str_) for name in ("divisor", "scale"))
    plain = divisor == "none"
    usable = np.where(divisor == "positive", below > 0, below != 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ours = np.where(plain, above, np.where(usable, above / below, np.nan))
    ends = interval(scale, above, np.sqrt(variances[0]), count, reals(found, "trials"))
    of_quotients = quotient_interval(above, below, variances, count)
    lower, upper = (
        np.where(plain, end, np.where(usable, end_of, np.nan))
        for end, end_of in zip(ends, of_quotients, strict=True)
    )
    return ours, lower, upper


def _decide(found: pa.Table, ours: Reals, lower: Reals, upper: Reals) -> tuple[Flags, list[str]]:
    """Return whether each value is within its bounds, and the verdict that its whole interval supports."""
    low, high = reals(found, "low"), reals(found, "high")
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    strict = np.asarray(found["strict"].to_numpy(zero_copy_only=False), bool)

    def within(number: Reals) -> Flags:
        return np.where(strict, (number > low) & (number < high), (number >= low) & (number <= high))

    # An interval that touches an exclusive bound is outside.
    beyond = np.where(strict, (lower >= high) | (upper <= low), (lower > high) | (upper < low))
    words = np.select(
        [np.isnan(ours), within(lower) & within(upper), beyond], [NOT_JUDGED, HELD, NOT_HELD], UNDECIDED
    )
    return within(ours), words.tolist()
