"""The command `roamcast sql`: query the tables of a campaign or of runs."""

from __future__ import annotations

import csv as csv_
import json as json_
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from roamcast.pipeline.views import TableSource


def command(
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="Campaign folder, facts folder, or a folder of facts folders."),
    ],
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Query in Spark's SQL; lists the tables if omitted.")
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a header.")] = False,
    rows: Annotated[
        int, typer.Option("--max-rows", min=1, max=1_000_000, help="Maximum number of rows printed.")
    ] = 50,
    master: Annotated[
        str | None, typer.Option(help="URL of a Spark master; by default all processors of this machine.")
    ] = None,
) -> None:
    """Query the tables of a campaign or of runs with SQL; docs/cookbook.md has examples."""
    from roamcast.pipeline.views import open_tables

    if json and csv:
        raise typer.BadParameter("--json or --csv, not both")
    tables = open_tables(folder)
    if query is None:
        _list(tables, json)
        return
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session

    with open_session(master) as spark, format_error("answering"):
        frame = run_query(spark, tables, query)
        if json:
            for row in _rows(frame, tables):
                print(json_.dumps(row, ensure_ascii=False, default=str))
        elif csv:
            writer = csv_.writer(sys.stdout, lineterminator="\n")
            writer.writerow(frame.columns)
            writer.writerows(row.values() for row in _rows(frame, tables))
        else:
            _show(frame, tables, rows)


def run_query(spark: SparkSession, tables: TableSource, query: str) -> DataFrame:
    """Register the tables as views and return the DataFrame of the query.

    Raise UserError if Spark rejects the query.
    """
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.logger import PySparkLogger

    from roamcast.pipeline.views import register_views

    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(logger).disabled = True  # they print as JSON the error that we report
    register_views(spark, tables)
    try:
        return spark.sql(query)
    except (AnalysisException, ParseException) as error:
        raise _query_error(error, tables) from None


def _rows(frame: DataFrame, tables: TableSource) -> Iterator[dict[str, Any]]:
    """Yield the rows; an error that Spark raises while it computes them becomes a UserError."""
    from pyspark.errors import AnalysisException, ArithmeticException, NumberFormatException

    try:
        for row in frame.toLocalIterator():
            yield row.asDict(recursive=True)
    except (AnalysisException, ArithmeticException, NumberFormatException) as error:
        raise _query_error(error, tables) from None


def _query_error(error: Exception, tables: TableSource) -> UserError:
    """Return Spark's message in one line, with the names of the tables."""
    text = str(error).split("\n\nJVM stacktrace")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    chosen = [line for line in lines if not line.startswith(("==", "^", "'", "+-", ":", "-----"))]
    brief = " ".join(chosen[:1]).split(" SQLSTATE:")[0].rstrip(".;")[:300]
    return UserError(f"invalid query: {brief}; the tables are {', '.join(tables.tables)}")


def _list(tables: TableSource, json: bool) -> None:
    found = {name: [_column(field) for field in tables.schema(name)] for name in tables.tables}
    if json:
        print(json_.dumps(found, ensure_ascii=False))
        return
    for name, columns in found.items():
        print(name)
        for column in columns:
            unit = f" [{column['unit']}]" if column["unit"] else ""
            print(f"    {column['name']:<14} {column['type']:<8} {column['meaning']}{unit}")


def _column(field: Any) -> dict[str, str]:
    import pyarrow as pa

    notes = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    meaning, unit = notes.get("meaning", ""), notes.get("unit", "")
    return {"name": field.name, "type": str(kind), "unit": unit, "meaning": meaning}


def _show(frame: DataFrame, tables: TableSource, limit: int) -> None:
    from itertools import islice

    from rich.console import Console
    from rich.table import Table

    found = list(islice(_rows(frame, tables), limit + 1))
    table = Table()
    numeric = {field.name for field in frame.schema if field.dataType.typeName() not in ("string", "boolean")}
    for name in frame.columns:
        table.add_column(name, justify="right" if name in numeric else "left")
    for row in found[:limit]:
        table.add_row(*(_print_table(value) for value in row.values()))
    console = Console()
    console.print(table)
    if len(found) > limit:
        console.print(
            f"only the first {limit} rows; use --max-rows, --csv or --json for more", highlight=False
        )


def _print_table(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return str(value)
