"""The command `roamcast sql`: query the tables of a campaign or of runs."""

from __future__ import annotations

import csv as csv_
import json as json_
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.shared.spark_options import (
    Conf,
    EventLog,
    Master,
    Remote,
    Ui,
    Warm,
    choose_session,
)
from roamcast.errors import UserError

if TYPE_CHECKING:
    from roamcast.pipeline.query import QueryResult
    from roamcast.pipeline.views import TableSource

ENGINES = ("spark", "duckdb")


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
    engine: Annotated[
        str,
        typer.Option(metavar="spark|duckdb", help="DuckDB, if installed, answers on this machine alone."),
    ] = "spark",
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    warm: Warm = None,
) -> None:
    """Query the tables of a campaign or of runs with SQL; docs/cookbook.md has examples."""
    from roamcast.pipeline.views import open_tables

    if json and csv:
        raise typer.BadParameter("--json or --csv, not both")
    if engine not in ENGINES:
        raise UserError(f"--engine {engine}: expected {' or '.join(ENGINES)}")
    where = choose_session(master, remote, conf, ui, event_log, warm=warm)
    if engine == "duckdb" and (where.arguments() or warm):
        raise UserError("--engine duckdb: uses no Spark; omit the options of Spark")
    tables = open_tables(folder)
    if query is None:
        _list(tables, json)
        return
    limit = None if json or csv else rows + 1
    if engine == "duckdb":
        from roamcast.pipeline.duck import ask_duckdb

        _print(ask_duckdb(tables, query, limit), rows, json=json, csv=csv)
        return
    from roamcast.pipeline.query import answer, run_query
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.views import named_tables

    size = sum(tables.size(name) for name in named_tables(query, tables))
    with open_session(where, size=size) as spark, format_error("answering", keeps=False):
        _print(answer(run_query(spark, tables, query), tables, limit), rows, json=json, csv=csv)


def _print(found: QueryResult, limit: int, *, json: bool, csv: bool) -> None:
    """Print the answer to a query; as a table at most `limit` rows."""
    if json:
        for row in found.rows:
            print(json_.dumps(dict(zip(found.columns, row, strict=True)), ensure_ascii=False, default=str))
    elif csv:
        writer = csv_.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows(found.rows)
    else:
        _show(found, limit)


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


def _show(found: QueryResult, limit: int) -> None:
    from rich.console import Console
    from rich.table import Table

    rows = list(found.rows)
    table = Table()
    for name, numeric in zip(found.columns, found.numeric, strict=True):
        table.add_column(name, justify="right" if numeric else "left")
    for row in rows[:limit]:
        table.add_row(*map(_print_table, row))
    console = Console()
    console.print(table)
    if len(rows) > limit:
        console.print(
            f"only the first {limit} rows; use --max-rows, --csv or --json for more", highlight=False
        )


def _print_table(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return str(value)
