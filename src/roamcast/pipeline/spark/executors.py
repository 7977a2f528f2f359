"""Executors: waiting until they register, and starting their workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.fingerprint import checked
from roamcast.pipeline.spark.cluster import count_processors, is_local
from roamcast.pipeline.spark.errors import SessionError, format_error
from roamcast.pipeline.spark.session import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_WORD, _NEXT_WORD = 20.0, 60.0
"Time without an executor until the first message to the user, and between further messages [s]."

_GIVE_UP = 600.0
"Time without an executor until the command fails [s]; a busy cluster may need minutes."


WARM_SLOTS = "spark.roamcast.slots"
"The setting by which a warm session publishes its number of parallel tasks."


def count_slots(spark: SparkSession) -> int:
    """Return the number of parallel tasks."""
    if not is_remote(spark):
        return int(spark.sparkContext.defaultParallelism)
    if slots := warm_slots(spark):
        return slots
    from pyspark.sql import functions

    spread = spark.range(0, 10_000).select(functions.spark_partition_id().alias("slot"))
    return int(spread.distinct().count())


def embedded(spark: SparkSession) -> bool:
    """Return whether all of Spark is one JVM on this machine that this process started."""
    return not is_remote(spark) and count_processors(spark.sparkContext.master) > 0


def warm_slots(spark: SparkSession) -> int:
    """Return the number of parallel tasks of a warm session; 0 for other sessions."""
    return int(spark.conf.get(WARM_SLOTS, "0")) if is_remote(spark) else 0


def on_this_machine(spark: SparkSession) -> bool:
    """Return whether all of Spark runs on this machine: as an embedded or as the warm session."""
    return embedded(spark) or warm_slots(spark) > 0


def await_executors(
    spark: SparkSession, say: Callable[[str], object] = lambda _: None, patience: float = _GIVE_UP
) -> None:
    """Wait until an executor has registered; `say` gets hints what to check meanwhile."""
    if is_remote(spark) or is_local(spark.sparkContext.master):
        return
    context = spark.sparkContext
    began = monotonic()
    word = _FIRST_WORD
    while context._jsc.sc().getExecutorMemoryStatus().size() < 2:  # the driver itself is one
        if context._jsc.sc().isStopped():
            raise SessionError(f"{context.master} has taken this application off; see the master's log")
        waited = monotonic() - began
        hint = _what_to_check(context.master, context.getConf().get("spark.driver.host"), waited)
        if waited > patience:
            raise SessionError(hint)
        if waited > word:
            say(hint)
            word += _NEXT_WORD
        sleep(0.1)


def _what_to_check(master: str, address: str, waited: float) -> str:
    return (
        f"no executor of {master} has come for {waited:.0f} s; see that its workers have a free core and "
        f"memory, and can call this driver back at {address} (else --conf spark.driver.host=ADDRESS)"
    )


def warm_up(
    spark: SparkSession,
    slots: int | None = None,
    say: Callable[[str], object] = lambda _: None,
    preload: tuple[str, ...] = (),
) -> float:
    """Start the worker of every slot, which imports the simulator and `preload`; return the time it took [s].

    Raise `SessionError` if an executor has another version of Roamcast than this process.
    """
    from roamcast.pipeline.running.task import SIMULATOR

    began = perf_counter()
    await_executors(spark, say)
    count = slots or count_slots(spark)

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time

        from roamcast.pipeline.running.task import supervisor_of

        supervisor_of(SIMULATOR, preload)
        time.sleep(0.05)  # so that one worker does not answer for all
        yield from batches

    with format_error("looking at its executors"):
        spark.range(0, count, 1, count).mapInArrow(checked(look), "id long").toArrow()
    return perf_counter() - began


def one_per_partition(spark: SparkSession, items: Iterable[Any]) -> Any:
    """Return a DataFrame with exactly one item per partition, in order, pickled in the column `item`.

    It joins the broadcast items with a range, whose partitions are exact, so nothing is shuffled.
    """
    from pyspark.sql import functions

    pickled = pa.array((pickle.dumps(item) for item in items), pa.binary())
    count = len(pickled)
    dealt = functions.broadcast(
        spark.createDataFrame(pa.table({"number": pa.array(range(count), pa.int64()), "item": pickled}))
    )
    numbers = spark.range(0, count, 1, count)
    return numbers.join(dealt, numbers["id"] == dealt["number"]).select("item")
