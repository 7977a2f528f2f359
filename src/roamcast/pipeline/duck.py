"""Queries on DuckDB, where it is installed: the same views on one machine, without Spark."""

from __future__ import annotations

from typing import Any

from roamcast.errors import UserError
from roamcast.pipeline.query import QueryResult, arrow_rows, query_error
from roamcast.pipeline.views import TableSource, named_tables

_NUMBERS = ("INT", "FLOAT", "DOUBLE", "DECIMAL", "NUMBER")


def ask_duckdb(tables: TableSource, query: str, limit: int | None = None) -> QueryResult:
    """Return the answer of DuckDB to a query, at most `limit` rows, over the tables that it names."""
    try:
        import duckdb
    except ImportError:
        raise UserError("--engine duckdb: DuckDB is not installed; pip install duckdb, or omit it") from None
    connection: Any = duckdb.connect()
    try:
        for name in named_tables(query, tables):
            connection.register(name, tables.dataset(name))
        relation = connection.sql(query)
        if relation is None:
            raise UserError("invalid query: a statement without rows; expected select ...")
        if limit is not None:
            relation = relation.limit(limit)
        numeric = [str(kind).startswith(_NUMBERS) or "INT" in str(kind) for kind in relation.types]
        found = relation.to_arrow_table()
    except duckdb.Error as error:
        raise query_error(str(error), tables) from None
    return QueryResult(list(relation.columns), numeric, arrow_rows(found))
