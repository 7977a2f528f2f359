"""`roamcast filter match --spark` and `groups --spark`: Parquet files of many filters and events."""

from __future__ import annotations

import json as json_
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from roamcast.content.schema import EventType
    from roamcast.pipeline.spark.cluster import SparkOptions

_SHOWN = 10
"Maximum number of lines printed per list."


def match_many(
    events: list[Path],
    filters: Path | None,
    types: Mapping[str, EventType],
    out: Path | None,
    *,
    where: SparkOptions,
    pairs: bool,
    json: bool,
) -> None:
    """Match a Parquet file of events with one of filters on Spark, and print the result."""
    if filters is None or len(events) != 1:
        raise UserError("--spark expects one Parquet file of events, and --filters F.parquet")
    if pairs and out is None:
        raise UserError("--pairs needs --out DIR to write the matches to")
    with _session(where, "matching") as spark:
        from pyspark.sql import functions as f

        from roamcast.pipeline.matching.match_join import match

        rows = _read(spark, filters, {"id": ("id",), "filter": ("filter", "wanted")})
        published = _read(spark, events[0], {"id": ("id", "publication"), "event": ("event",)})
        found = match(rows, published, types, pairs=pairs).persist()
        sums = found.agg(
            f.countDistinct("event"), f.sum("count"), f.sum(f.col("why").isNotNull().cast("long"))
        ).first()
        bad = [row.asDict() for row in found.where("why is not null").limit(_SHOWN).collect()]
        if out is not None:
            found.coalesce(8).write.mode("overwrite").parquet(str(out))
        record: dict[str, Any] = {"events": sums[0], "matches": sums[1] or 0, "bad": sums[2] or 0}
    if json:
        print(json_.dumps(record | {"not_understood": bad}, ensure_ascii=False))
        return
    print(f"{record['matches']:,} matches of {record['events']:,} events")
    for row in bad:
        what = f"event {row['event']}" if row["filter"] is None else f"filter {row['filter']}"
        print(f"invalid: {what}: {row['why']}")
    if record["bad"] > len(bad):
        print(f"and {record['bad'] - len(bad):,} more")


def group_many(
    file: Path, types: Mapping[str, EventType], channels: int | None, *, where: SparkOptions, json: bool
) -> None:
    """Group a Parquet file of filters on Spark, and print the channels."""
    with _session(where, "grouping") as spark:
        from roamcast.pipeline.matching.clustering import cluster, to_groups

        rows = _read(spark, file, {"id": ("id",), "filter": ("filter", "wanted")})
        found = to_groups(cluster(rows, types, channels))
    if json:
        rows = [{"filter": str(group.filter), "members": list(group.members)} for group in found]
        print(json_.dumps({"method": "kmeans", "groups": rows}, ensure_ascii=False))
        return
    for number, group in enumerate(found, 1):
        print(f"channel {number}: {group.filter}")
        shown = ", ".join(map(str, group.members[:_SHOWN]))
        more = f" and {len(group.members) - _SHOWN:,} more" if len(group.members) > _SHOWN else ""
        print(f"    filters {shown}{more}")
    print(f"\n{len(found)} channels")


@contextmanager
def _session(where: SparkOptions, doing: str) -> Iterator[SparkSession]:
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session

    with open_session(where) as spark, format_error(doing, keeps=False):
        yield spark


def _read(spark: SparkSession, path: Path, columns: dict[str, tuple[str, ...]]) -> DataFrame:
    """Return the columns of a Parquet file under the names in `columns`, ids as integers."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as f

    try:
        frame = spark.read.parquet(str(path))
    except AnalysisException:
        raise UserError(f"{path}: not found, or not a Parquet file") from None
    chosen = []
    for name, known in columns.items():
        column = next((each for each in known if each in frame.columns), None)
        if column is None:
            raise UserError(f"{path}: has no column {' or '.join(known)}, only {', '.join(frame.columns)}")
        kind = frame.schema[column].dataType.typeName()
        allowed = ("byte", "short", "integer", "long") if name == "id" else ("string", "binary")
        if kind not in allowed:
            raise UserError(f"{path}: column {column} holds {kind}, expected {' or '.join(allowed[-2:])}")
        chosen.append(f.col(column).cast("long").alias(name) if name == "id" else f.col(column).alias(name))
    return frame.select(*chosen)
