"""Work spread over Spark's slots by the DataFrame API alone: a task an item, its answer to the driver."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from roamcast.fingerprint import checked
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def spark_or_local(spark: SparkSession | None, little: bool) -> SparkSession | None:
    """Who is to do the work: nobody but this process if it is `little` and Spark would do it here, too.

    Dealing out a job takes an embedded session half a second, and the first one two.
    """
    return None if spark is None or (little and embedded(spark)) else spark


def spread(
    spark: SparkSession | None, doing: str, items: Sequence[Item], work: Callable[[Item], Answer]
) -> list[Answer]:
    """What `work` answers for each item, a Spark task each; `doing` says what it is, should Spark give up.

    Without Spark it is done here, one after the other.
    """
    if spark is None:
        return [work(item) for item in items]
    if not items:
        return []

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                told = pickle.dumps(work(items[number]))
                yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([told])], ["number", "told"])

    asked = spark.range(0, len(items), 1, len(items))
    with format_error(doing):
        found = asked.mapInArrow(checked(answer), "number long, told binary").toArrow()
    told: dict[int, Any] = {
        number: pickle.loads(each)
        for number, each in zip(found["number"].to_pylist(), found["told"].to_pylist(), strict=True)
    }
    return [told[number] for number in range(len(items))]
