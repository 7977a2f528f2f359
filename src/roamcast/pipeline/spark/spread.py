"""Distribution of work by the DataFrame API: one task per item, results to the driver."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from roamcast.fingerprint import checked
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import on_this_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def spark_or_local(spark: SparkSession | None, small: bool) -> SparkSession | None:
    """Return None if the work is `small` and Spark is on this machine, so that this process does it.

    A job takes an embedded session half a second, the first job two, and the warm session a tenth.
    """
    return None if spark is None or (small and on_this_machine(spark)) else spark


def spread(
    spark: SparkSession | None, doing: str, items: Sequence[Item], work: Callable[[Item], Answer]
) -> list[Answer]:
    """Return the result of `work` for each item, computed by one Spark task each.

    `doing` describes the work in error messages. Without Spark, this process does it.
    """
    if spark is None:
        return [work(item) for item in items]
    if not items:
        return []

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                result = pickle.dumps(work(items[number]))
                yield pa.RecordBatch.from_arrays(
                    [pa.array([number]), pa.array([result])], ["number", "result"]
                )

    numbers = spark.range(0, len(items), 1, len(items))
    with format_error(doing):
        found = numbers.mapInArrow(checked(answer), "number long, result binary").toArrow()
    result: dict[int, Any] = {
        number: pickle.loads(each)
        for number, each in zip(found["number"].to_pylist(), found["result"].to_pylist(), strict=True)
    }
    return [result[number] for number in range(len(items))]
