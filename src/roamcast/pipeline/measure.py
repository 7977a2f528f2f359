"""measure: facts -> one row of metrics for each run that is done.

Counts and sums of whole numbers are group-bys; what needs sorted values per run (pairs of event and node,
percentiles, requests, neighbours) is `arithmetic`, applied to one run's narrow columns at a time. Nothing
depends on the order of rows or on how Spark lays them out.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.facts.schema import TABLES as FACTS
from roamcast.pipeline.campaign import Measure
from roamcast.pipeline.metrics import METRICS
from roamcast.pipeline.tables import spark_schema
from roamcast.routing.router import Drop

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

_PUBLISHED, _EXPECTED, _DELIVERED, _INTEREST = 0, 1, 2, 3
_OF_STORY = (
    *("publications", "expected", "delivered", "delivery_rate", "delivery_rate_mean"),
    *("false_deliveries", "duplicate_deliveries"),
    *("delay_mean", "delay_p50", "delay_p90", "delay_p95", "delay_p99", "delay_max"),
    *("requests", "answer_rate", "response_delay"),
)


def measure(
    spark: SparkSession, plan: DataFrame, runs_folder: Path, done: Sequence[str], constants: Measure
) -> DataFrame:
    """The metrics of the runs `done`, whose facts are in `runs_folder`/run=ID."""
    facts = {name: _read(spark, runs_folder, name, done) for name in FACTS}
    runs = plan.select("run", "warmup", "radio_range", "header")
    return measure_facts(facts, runs, constants)


def measure_facts(facts: dict[str, DataFrame], runs: DataFrame, constants: Measure) -> DataFrame:
    """The metrics of the facts in `facts` (each with a column `run`); `runs` says how to read them."""
    from pyspark.sql import functions as f

    runs = f.broadcast(runs)
    parts = [
        _story(facts, runs),
        _sent(facts["transmissions"].join(runs.select("run", "warmup"), "run")),
        _dropped(facts["drops"].join(runs.select("run", "warmup"), "run")),
        _neighbours(facts["positions"].join(runs.select("run", "warmup", "radio_range"), "run")),
    ]
    joined = reduce(lambda left, right: left.join(right, "run", "left"), parts, runs.select("run", "header"))
    counted = joined.fillna(0, [name for name in joined.columns if name in _COUNTED])
    derived = counted.withColumns(_derive(constants))
    return derived.select("run", *(f.col(name).cast("double").alias(name) for name in METRICS))


def _read(spark: SparkSession, folder: Path, table: str, done: Sequence[str]) -> DataFrame:
    schema = spark_schema(FACTS[table].append(pa.field("run", pa.string())))
    files = [str(folder / f"run={run}" / f"{table}.parquet") for run in done]
    if not files:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).option("basePath", str(folder)).parquet(*files)


def _story(facts: dict[str, DataFrame], runs: DataFrame) -> DataFrame:
    """Publications, expectations, deliveries and interests of a run in one narrow table, measured at once."""
    from pyspark.sql import functions as f

    def narrow(table: str, kind: int, **columns: str | Column) -> DataFrame:
        chosen = {"publication": "publication", "node": "node", "time": "time"} | columns
        return facts[table].select(
            "run",
            f.lit(kind).cast("byte").alias("kind"),
            *(
                (f.col(source) if isinstance(source, str) else source).alias(name)
                for name, source in chosen.items()
            ),
        )

    no_text, no_flag, no_time = f.lit(None).cast("string"), f.lit(None).cast("boolean"), f.lit(0.0)
    story = (
        narrow("publications", _PUBLISHED, node="publisher", text="event", begins=no_flag)
        .unionByName(narrow("expectations", _EXPECTED, time=no_time, text=no_text, begins=no_flag))
        .unionByName(narrow("deliveries", _DELIVERED, text=no_text, begins=no_flag))
        .unionByName(
            narrow("interests", _INTEREST, publication=f.lit(-1).cast("long"), text="wanted", begins="begins")
        )
    )
    told = story.join(runs.select("run", "warmup"), "run")
    schema = ", ".join(["run string", *(f"{name} double" for name in _OF_STORY)])
    return told.groupBy("run").applyInArrow(_measure_story, schema)


def _measure_story(key: tuple[Any, ...], rows: pa.Table) -> pa.Table:
    from roamcast.pipeline.answers import matcher
    from roamcast.pipeline.arithmetic import measure_pairs, measure_requests

    kind = rows["kind"].to_numpy()
    warmup = rows["warmup"][0].as_py()

    def numbers(wanted: int, *columns: str) -> Any:
        return tuple(rows[column].to_numpy()[kind == wanted] for column in columns)

    published = numbers(_PUBLISHED, "publication", "time")
    delivered = numbers(_DELIVERED, "publication", "node", "time")
    found = measure_pairs(published, numbers(_EXPECTED, "publication", "node"), delivered, warmup)

    interests = rows.filter(pa.compute.equal(rows["kind"], _INTEREST))
    events = rows.filter(pa.compute.equal(rows["kind"], _PUBLISHED))
    said = dict(zip(events["publication"].to_pylist(), events["text"].to_pylist(), strict=True))
    found |= measure_requests(
        zip(*(interests[name].to_pylist() for name in ("time", "node", "text", "begins")), strict=True),
        (
            (time, node, said[publication])
            for publication, node, time in zip(*(column.tolist() for column in delivered), strict=True)
            if publication in said
        ),
        warmup,
        matcher(),
    )
    return pa.table(
        {"run": [key[0].as_py()]} | {name: pa.array([found[name]], pa.float64()) for name in _OF_STORY}
    )


def _sent(transmissions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    sent = transmissions.where(f.col("time") >= f.col("warmup"))
    broadcast = f.col("to") == -1
    frames = f.col("attempts").cast("long")
    volume = f.col("size") * frames
    nothing = f.lit(0).cast("long")

    def of(category: str) -> Column:
        return f.count_if(f.col("category") == category).alias(f"messages_{category}")

    return sent.groupBy("run").agg(
        f.count("*").alias("messages"),
        *(of(category) for category in ("event", "subscription", "routing", "control")),
        f.count_if("failed").alias("messages_failed"),
        f.sum(frames).alias("frames"),
        f.sum(volume).alias("bytes"),
        # Whole nanoseconds add up the same in every order.
        f.sum((f.col("airtime") * 1e9 + 0.5).cast("long")).alias("airtime_ns"),
        f.sum(f.when(broadcast, frames).otherwise(nothing)).alias("broadcast_frames"),
        f.sum(f.when(broadcast, volume).otherwise(nothing)).alias("broadcast_bytes"),
    )


def _dropped(drops: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    lost = drops.where(f.col("time") >= f.col("warmup"))
    of_router = [reason.name.lower() for reason in Drop]
    return lost.groupBy("run").agg(
        f.count("*").alias("drops"), f.count_if(~f.col("cause").isin(of_router)).alias("drops_link")
    )


def _neighbours(positions: DataFrame) -> DataFrame:
    return positions.groupBy("run").applyInArrow(_measure_neighbours, "run string, neighbours double")


def _measure_neighbours(key: tuple[Any, ...], rows: pa.Table) -> pa.Table:
    from roamcast.pipeline.arithmetic import count_neighbours

    time, x, y = (rows[name].to_numpy() for name in ("time", "x", "y"))
    near = count_neighbours(time, x, y, rows["radio_range"][0].as_py(), rows["warmup"][0].as_py())
    return pa.table({"run": [key[0].as_py()], "neighbours": pa.array([near], pa.float64())})


_COUNTED = (
    *("publications", "expected", "delivered", "false_deliveries", "duplicate_deliveries", "requests"),
    *("messages", "messages_event", "messages_subscription", "messages_routing", "messages_control"),
    *("messages_failed", "frames", "bytes", "airtime_ns", "broadcast_frames", "broadcast_bytes"),
    *("drops", "drops_link"),
)
"Zero, not unknown, where a run has no such fact."


def _derive(constants: Measure) -> dict[str, Column]:
    from pyspark.sql import functions as f

    energy = constants.energy
    on_air = f.col("bytes") + f.col("header") * f.col("frames")
    broadcast = f.col("broadcast_bytes") + f.col("header") * f.col("broadcast_frames")
    unicast_frames, unicast = f.col("frames") - f.col("broadcast_frames"), on_air - broadcast
    bystanders = f.greatest(f.col("neighbours") - 1, f.lit(0.0))
    microjoules = (
        energy.broadcast_send_per_byte * broadcast
        + energy.broadcast_send_per_frame * f.col("broadcast_frames")
        + f.col("neighbours")
        * (
            energy.broadcast_receive_per_byte * broadcast
            + energy.broadcast_receive_per_frame * f.col("broadcast_frames")
        )
        + (energy.unicast_send_per_byte + energy.unicast_receive_per_byte) * unicast
        + (energy.unicast_send_per_frame + energy.unicast_receive_per_frame) * unicast_frames
        + bystanders * (energy.overhear_per_byte * unicast + energy.overhear_per_frame * unicast_frames)
    )
    return {
        "airtime": f.col("airtime_ns") / 1e9,
        "normalised_overhead": f.col("messages") + (constants.gamma - 1) * f.col("messages_event"),
        "overhead_per_event": f.try_divide("messages", "publications"),
        "transmissions_per_delivery": f.try_divide("messages", "delivered"),
        "energy": microjoules / 1e6,
    }
