"""Registration of a campaign's tables in a catalog of Spark: its own, Hive's, Unity's or another one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamcast.errors import UserError
from roamcast.lake.columns import TABLES, comment, plain_schema
from roamcast.lake.lake import CHECK_PAGES, Lake
from roamcast.lake.runs_table import RUNS_TABLE
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

COMMITTED = "committed_runs"
"The name of the Delta table `runs` in a catalog, where `runs` is the campaign's table of all planned runs."

_DELTA = "io.delta.sql.DeltaSparkSessionExtension"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


class CatalogError(UserError):
    """Tables that cannot be registered."""


def write_statements(lake: Lake, database: str, provider: str = "delta") -> list[str]:
    """Return the SQL statements that register every table of a lake as an external table of `database`.

    Facts are Delta tables. With `provider` "parquet", they are read as folders of Parquet files, which have
    the right rows while no command writes to the campaign. The campaign's own tables are Parquet files.
    """
    if not _NAME.fullmatch(database):
        raise CatalogError(f"{database!r}: expected a database as NAME or CATALOG.NAME")
    found = [f"CREATE DATABASE IF NOT EXISTS {database}"]
    for table in lake.tables:
        place = lake.facts / table if table in TABLES else lake.made / f"{table}.parquet"
        kind = provider if table in TABLES else "parquet"
        found += _replace(f"{database}.`{table}`", lake.schema(table), place, kind)
    from roamcast.lake.columns import RUNS

    return found + _replace(f"{database}.{COMMITTED}", RUNS, lake.facts / RUNS_TABLE, provider)


def _replace(name: str, schema: pa.Schema, place: StorageUrl, provider: str) -> list[str]:
    """Return the statements that replace a table; no data is removed, because the table is external."""
    where = place.local.as_uri() if place.local is not None else str(place).replace("s3://", "s3a://")
    columns, options = "", ""
    if provider == "parquet":
        from roamcast.lake.columns import spark_schema

        kinds = spark_schema(plain_schema(schema)).fields
        declared = [
            f"`{column.name}` {column.dataType.simpleString()} COMMENT {_quote(comment(field))}"
            for column, field in zip(kinds, schema, strict=True)
        ]
        columns = f" ({', '.join(declared)})"
        options = (
            f" OPTIONS ({', '.join(f'{_quote(key)} {_quote(value)}' for key, value in CHECK_PAGES.items())})"
        )
    return [
        f"DROP TABLE IF EXISTS {name}",
        f"CREATE TABLE {name}{columns} USING {provider}{options} LOCATION {_quote(where)}",
    ]


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def register(spark: SparkSession, lake: Lake, database: str) -> list[str]:
    """Register the tables of a lake in the session's catalog; return their names.

    Delta's extension is used where the session has it.
    """
    has_delta = _DELTA in (spark.conf.get("spark.sql.extensions", "") or "")
    for statement in write_statements(lake, database, "delta" if has_delta else "parquet"):
        spark.sql(statement)
    return [*lake.tables, COMMITTED]
