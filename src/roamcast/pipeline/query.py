"""Queries in SQL over the tables of a folder, on Spark or on DuckDB, with all rows from one job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from roamcast.errors import UserError
from roamcast.pipeline.spark.session import is_remote
from roamcast.pipeline.views import TableSource, register_views

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_TOO_LARGE = "spark.driver.maxResultSize"
"Part of Spark's error if the rows of a job exceed the limit of what a driver collects."


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query: columns, and rows that are computed when they are read."""

    columns: list[str]
    numeric: list[bool]
    "Whether each column has numbers, which are aligned at the right."
    rows: Iterator[tuple[Any, ...]]


def run_query(spark: SparkSession, tables: TableSource, query: str) -> DataFrame:
    """Register the tables that a query names as views and return the DataFrame of the query.

    Raise UserError if Spark rejects the query.
    """
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.logger import PySparkLogger

    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(logger).disabled = True  # they print as JSON the error that we report
    register_views(spark, tables, query)
    try:
        return spark.sql(query)
    except (AnalysisException, ParseException) as error:
        raise query_error(str(error), tables) from None


def answer(frame: DataFrame, tables: TableSource, limit: int | None = None) -> QueryResult:
    """Return the rows of a query, at most `limit`."""
    from pyspark.errors import AnalysisException, ParseException

    try:
        schema = frame.schema  # with Spark Connect, the query is analysed here
    except (AnalysisException, ParseException) as error:
        raise query_error(str(error), tables) from None
    numeric = [field.dataType.typeName() not in ("string", "boolean") for field in schema]
    chosen = frame if limit is None else frame.limit(limit)
    return QueryResult([field.name for field in schema], numeric, _rows(chosen, tables))


def _rows(frame: DataFrame, tables: TableSource) -> Iterator[tuple[Any, ...]]:
    """Yield the rows; an error that Spark raises while it computes them becomes a UserError."""
    from pyspark.errors import AnalysisException, ArithmeticException, NumberFormatException

    try:
        yield from _stream(frame)
    except (AnalysisException, ArithmeticException, NumberFormatException) as error:
        raise query_error(str(error), tables) from None


def _stream(frame: DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one job, as Arrow batches.

    A result above the limit of what a driver collects is fetched by a job per partition instead; a server
    streams it, and refuses it above its limit.
    """
    if is_remote(frame.sparkSession):
        for row in frame.toLocalIterator():
            yield tuple(map(_plain, row))
        return
    try:
        table = frame.toArrow()
    except Exception as error:
        if _TOO_LARGE not in str(error):
            raise
        for row in frame.toLocalIterator(prefetchPartitions=True):
            yield tuple(map(_plain, row))
        return
    yield from arrow_rows(table)


def arrow_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an Arrow table, converted in batches."""
    for batch in table.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist(maps_as_pydicts="lossy") for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield tuple(map(_plain, row))


def _plain(value: Any) -> Any:
    """Return structs as dictionaries, and times without the session's zone, which is UTC."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if hasattr(value, "asDict"):
        return value.asDict(recursive=True)
    return value


def query_error(message: str, tables: TableSource) -> UserError:
    """Return the error of an engine in one line, with the names of the tables."""
    text = message.split("\n\nJVM stacktrace", maxsplit=1)[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    chosen = [line for line in lines if not line.startswith(("==", "^", "'", "+-", ":", "-----"))]
    brief = " ".join(chosen[:1]).split(" SQLSTATE:")[0].rstrip(".;")[:300]
    return UserError(f"invalid query: {brief}; the tables are {', '.join(tables.tables)}")
