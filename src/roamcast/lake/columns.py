"""The columns of the lake: those of the facts, preceded by the run and its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from roamcast.facts.schema import TABLES as FACTS

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

RUN = pa.field(
    "run",
    pa.dictionary(pa.int32(), pa.string()),
    nullable=False,
    metadata={"meaning": "digest of scenario, protocol, parameters, seed and version", "unit": ""},
)

_WORDS = pa.dictionary(pa.int32(), pa.string())

CELL = pa.schema(
    [
        pa.field(name, kind, metadata={"meaning": meaning, "unit": ""})
        for name, kind, meaning in (
            ("campaign", _WORDS, "title of the campaign"),
            ("protocol", _WORDS, "label of the protocol in the campaign"),
            ("point", _WORDS, "settings of the sweep at the run's first point, as JSON; `points` has all"),
            ("seed", pa.int64(), "seed of the run"),
        )
    ]
)
"""The columns of a run's cell, which every table of facts carries.

Files are sorted by protocol, seed, point and run, so a question about some of them reads some row groups.
"""

TAGS = ("run", *CELL.names)
"The columns that a table of the lake has besides those of the facts."

ABOUT = pa.schema(
    [
        RUN,
        *CELL,
        pa.field(
            "told",
            pa.string(),
            nullable=False,
            metadata={"meaning": "description and counters of the run, as JSON (`run.json`)", "unit": ""},
        ),
    ]
)


def _resource(name: str, kind: pa.DataType, meaning: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, metadata={"meaning": meaning, "unit": unit})


RUNS = pa.schema(
    [
        RUN,
        _resource("rows", pa.int64(), "number of facts that the run wrote"),
        _resource("size", pa.int64(), "size of the staged files of the run", "B"),
        _resource("wall", pa.float64(), "elapsed time of the simulation", "s"),
        _resource("cpu", pa.float64(), "processor time of the simulation", "s"),
        _resource("memory", pa.int64(), "peak memory of the simulation", "B"),
        _resource("version", pa.string(), "version of Roamcast with a digest of the code"),
        _resource("committed", pa.float64(), "time of the run's first commit, since 1970", "s"),
        *CELL,
    ]
)
"The columns of the Delta table facts/runs, which has a row for each committed run."

TABLES: dict[str, pa.Schema] = {"about": ABOUT} | {
    name: pa.schema([RUN, *CELL, *(field.with_nullable(True) for field in schema)])
    for name, schema in FACTS.items()
}
"""Every table of the lake by name; its files are facts/TABLE/BATCH.parquet.

Columns are nullable, because files of older versions lack columns that were added later.
"""


def fact_columns(table: str) -> list[str]:
    """Return the names of a table's columns without those of the run and its cell."""
    return [name for name in TABLES[table].names if name not in TAGS]


def dictionary_columns(table: str) -> list[str]:
    """Return the names of a table's dictionary-encoded columns."""
    return [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]


def conform(rows: pa.Table, table: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return the columns `names` (default: all) of a lake table; a column that the file lacks is null.

    Strings keep the encoding in which they were read.
    """
    fields, columns = [], []
    for name in TABLES[table].names if names is None else names:
        kind = TABLES[table].field(name).type
        if name in rows.column_names:
            column = rows[name]
        else:
            coded = pa.dictionary(pa.int32(), pa.string()) if pa.types.is_dictionary(kind) else kind
            column = pa.chunked_array([pa.nulls(len(rows), coded)])
        fields.append(pa.field(name, column.type))
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema for an Arrow schema, with meaning and unit of a column as its comment."""
    from pyspark.sql.pandas.types import from_arrow_schema

    found = from_arrow_schema(plain_schema(schema))
    for column, field in zip(found.fields, schema, strict=True):
        if text := comment(field):
            column.metadata = {"comment": text}
    return found


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema in which dictionary-encoded columns have the type of their values."""
    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )


def comment(field: pa.Field) -> str:
    """Return the meaning of a column with its unit in brackets; empty if it is not known."""
    meaning, unit = ((field.metadata or {}).get(key, b"").decode() for key in (b"meaning", b"unit"))
    return f"{meaning} [{unit}]" if meaning and unit else meaning
