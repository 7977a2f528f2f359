"""What follows from the table `metrics`: summary, differences and verdicts, each made anew if it is stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from roamcast.pipeline.measuring.judge import judge
from roamcast.pipeline.measuring.summarise import compare, summarise
from roamcast.pipeline.spark.errors import briefly

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from roamcast.pipeline.store import Store


def derive(
    spark: SparkSession, store: Store, seeds: int, time: Callable[[str], AbstractContextManager[None]]
) -> None:
    """Summarise and judge what is measured in `store`; `time` counts what a stage takes."""

    def keep(name: str, frame: DataFrame) -> None:
        with briefly(f"making the table {name!r}"):
            table = frame.toArrow()
        store.write_table(name, table)

    stale = store.stale()
    metrics, points = store.frame(spark, "metrics"), store.frame(spark, "points")
    with time("summarise"):
        if "summary" in stale:
            keep("summary", summarise(metrics, points, seeds))
        if "differences" in stale:
            keep("differences", compare(metrics, points, seeds))
    with time("judge"):
        if "verdicts" in stale:
            keep(
                "verdicts",
                judge(metrics, store.frame(spark, "checks"), store.frame(spark, "terms"), seeds),
            )
