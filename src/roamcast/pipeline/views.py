"""Tables as views of a Spark session, with the meaning of each column as its comment.

The folder may be that of a campaign, of one run (`roamcast run --facts`), or of several runs, as `roamcast
ingest` writes them; folders of runs have some of a campaign's tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.campaign.tables import METRICS_TABLE, PLAN, POINTS
from roamcast.errors import UserError
from roamcast.facts.schema import TABLES as FACTS
from roamcast.facts.tables import RUN_FILE, Facts, FactsError, RunManifest
from roamcast.lake.columns import CELL, TABLES, plain_schema, spark_schema
from roamcast.lake.lake import Lake, open_lake, read_parquet
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from pyspark.sql import DataFrame, SparkSession


class ViewsError(UserError):
    """A folder without tables, or an invalid query."""


class TableSource(Protocol):
    """A source of tables with schemas, such as a lake."""

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of a table."""

    def frame(self, spark: SparkSession, table: str) -> DataFrame:
        """Return a table as a DataFrame."""

    def dataset(self, table: str) -> ds.Dataset | pa.Table:
        """Return a table for engines that read Arrow."""

    def size(self, table: str) -> int:
        """Return the size of the files of a table [B]."""


def open_tables(folder: str) -> TableSource:
    """Return the tables of a folder, or raise `ViewsError`."""
    place = Path(folder)
    if (place / "campaign.json").is_file() or "://" in folder:
        return open_lake(folder)
    if (place / RUN_FILE).is_file():
        return RunFolders({place.name or "run": place})
    found = {each.parent.name: each.parent for each in sorted(place.glob(f"*/{RUN_FILE}"))}
    if found:
        return RunFolders(found)
    raise ViewsError(f"{folder}: neither a campaign nor the facts of runs")


def register_views(spark: SparkSession, tables: TableSource, query: str | None = None) -> list[str]:
    """Register tables as views of the session; return their names.

    With a `query`, only the tables that it names, and from a remote store only the columns that it names.
    """
    chosen = tables.tables if query is None else named_tables(query, tables)
    for name in chosen:
        schema = tables.schema(name)
        if query is not None and isinstance(tables, Lake) and tables.place.scheme == "s3" and name in TABLES:
            from roamcast.pipeline.remote_tables import named_columns, remote_frame

            columns = named_columns(query, schema)
            schema = pa.schema([schema.field(column) for column in columns])
            frame = remote_frame(spark, tables, name, columns)
        else:
            frame = tables.frame(spark, name)
        describe(frame, schema).createOrReplaceTempView(name)
    return chosen


def named_tables(query: str, tables: TableSource) -> list[str]:
    """Return the tables whose names occur in a query; all tables for other statements, as `show tables`.

    A lake of many batches has a file per table and batch, so a view takes time to make.
    """
    words = [word.lower() for word in re.findall(r"\w+", query)]
    known = tables.tables
    if words[:1] not in (["select"], ["with"], ["from"]):
        return known
    return [name for name in known if name.lower() in words]


def describe(frame: DataFrame, schema: pa.Schema) -> DataFrame:
    """Return the frame with meaning and unit of each column as its comment."""
    from pyspark.sql import functions as f

    columns = []
    for name in schema.names:  # asking the frame would take Spark Connect a round trip
        metadata = schema.field(name).metadata or {}
        unit, meaning = (metadata.get(key, b"").decode() for key in (b"unit", b"meaning"))
        comment = f"{meaning} [{unit}]" if unit else meaning
        columns.append(f.col(f"`{name}`").alias(name, metadata={"comment": comment}))
    return frame.select(*columns)


_RUN_COLUMN = POINTS.field("run")
_PLAN_COLUMNS = (
    "run",
    "router",
    "parameters",
    "seed",
    "duration",
    "warmup",
    "radio_range",
    "nodes",
    "version",
)
"The columns of the plan that the folder of a run contains."


class RunFolders:
    """Folders of runs, by name, as tables of a campaign."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = dict(folders)

    @property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return [*FACTS, "plan", "points", "metrics"]

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of a table, with the meaning of its columns."""
        if table in FACTS:
            return pa.schema([_RUN_COLUMN, *CELL, *FACTS[table]])
        if table == "plan":
            return pa.schema([PLAN.field(name).with_nullable(True) for name in _PLAN_COLUMNS])
        return POINTS if table == "points" else METRICS_TABLE

    def frame(self, spark: SparkSession, table: str) -> DataFrame:
        """Return a table as a DataFrame."""
        from functools import reduce

        from pyspark.sql import functions as f

        if table not in FACTS:
            return spark.createDataFrame(self._rows(table), spark_schema(self.schema(table)))
        schema = spark_schema(FACTS[table])
        frames = []
        for name, folder in self.folders.items():
            tags = self._tags(name)
            found = read_parquet(spark, schema, [folder / f"{table}.parquet"])
            kinds = {field.name: field.dataType for field in spark_schema(self.schema(table))}
            frames.append(found.withColumns({key: f.lit(tag).cast(kinds[key]) for key, tag in tags.items()}))
        return reduce(lambda one, other: one.unionByName(other), frames).select(*self.schema(table).names)

    def dataset(self, table: str) -> pa.Table:
        """Return a table with the rows of all runs."""
        schema = plain_schema(self.schema(table))
        if table not in FACTS:
            rows = [dict(zip(schema.names, row, strict=True)) for row in self._rows(table)]
            return pa.Table.from_pylist(rows, schema)
        found = []
        for name, folder in self.folders.items():
            rows = pq.read_table(folder / f"{table}.parquet", page_checksum_verification=True)
            for key, tag in self._tags(name).items():
                kind = schema.field(key).type
                rows = rows.append_column(key, pa.array([tag] * len(rows), kind))
            found.append(rows.select(schema.names).cast(schema))
        return pa.concat_tables(found)

    def size(self, table: str) -> int:
        """Return the size of the files of a table [B]."""
        if table not in FACTS:
            return 0
        return sum((folder / f"{table}.parquet").stat().st_size for folder in self.folders.values())

    def _tags(self, name: str) -> dict[str, Any]:
        """Return the values of the columns that tell which run a row belongs to."""
        run = _read_run(self.folders[name])
        return {"run": name, "campaign": None, "protocol": run.protocol, "point": "{}", "seed": run.seed}

    def _rows(self, table: str) -> list[tuple[Any, ...]]:
        rows = []
        for name, folder in self.folders.items():
            if table == "metrics":
                values = evaluate(metric_input(Facts.read(folder)))
                row: dict[str, Any] = {
                    key: None if value is None else float(value) for key, value in values.items()
                }
            else:
                run = _read_run(folder)
                row = {"sweep": "", "point": "{}", "protocol": run.protocol, "seed": run.seed}
                row |= {"router": run.protocol, "duration": run.duration, "warmup": run.warmup}
                row |= {"radio_range": run.range, "nodes": run.nodes, "version": run.version}
                row["parameters"] = msgspec.json.encode(run.parameters).decode()
            row["run"] = name
            rows.append(tuple(row[column] for column in self.schema(table).names))
        return rows


def _read_run(folder: Path) -> RunManifest:
    try:
        return msgspec.json.decode((folder / RUN_FILE).read_bytes(), type=RunManifest)
    except (OSError, ValueError) as error:
        raise FactsError(f"{folder / RUN_FILE}: damaged: {error}") from None
