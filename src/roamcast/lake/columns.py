"""The columns of the lake: those of the facts, with the run that they are of."""

from __future__ import annotations

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

ABOUT = pa.schema(
    [
        RUN,
        pa.field(
            "told",
            pa.string(),
            nullable=False,
            metadata={"meaning": "what was run and what was counted, as JSON (`run.json`)", "unit": ""},
        ),
    ]
)

TABLES: dict[str, pa.Schema] = {"about": ABOUT} | {
    name: pa.schema([RUN, *schema]) for name, schema in FACTS.items()
}
"Every table of the lake by name; its files are facts/TABLE/BATCH.parquet."


def words_of(table: str) -> list[str]:
    """The columns of a table that hold words, each word once."""
    return [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]


def spark_schema(schema: pa.Schema) -> StructType:
    """The same schema as Spark's; what a column means becomes its comment."""
    from pyspark.sql.pandas.types import from_arrow_schema

    plain = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    found = from_arrow_schema(pa.schema(plain))
    for column, field in zip(found.fields, schema, strict=True):
        told = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        if "meaning" in told:
            unit = f" [{told['unit']}]" if told.get("unit") else ""
            column.metadata = {"comment": told["meaning"] + unit}
    return found
