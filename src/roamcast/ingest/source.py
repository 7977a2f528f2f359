"""Python Data Sources for Spark: `spark.read.format("roamcast.ns2trace").load("runs/*.tr")`.

Rows that were understood have no `bad`; lines that were not have `file`, `offset`, `bad` (why) and `text`,
and nothing else. A file whose format allows it is read by many tasks (`split` bytes each), in little memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from roamcast.fingerprint import make_check, package_version
from roamcast.ingest.file_parts import BadLine, FilePart, IngestError, find_files, split
from roamcast.ingest.formats import FORMATS, TraceFormat, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

SPLIT = 32 << 20
"Bytes of a file that a task reads, if not told otherwise."

_BATCH = 10_000

PREFIX = "roamcast."


def row_schema(form: TraceFormat) -> pa.Schema:
    """The columns that a source of this format has."""
    file = pa.field("file", pa.string(), metadata={"meaning": "that the line is of"})
    bad = pa.field(
        "bad", pa.string(), metadata={"meaning": "why the line was not understood; null if it was"}
    )
    text = pa.field("text", pa.string(), metadata={"meaning": "how a bad line begins"})
    return pa.schema([file, *form.schema, bad, text])


def batches(form: TraceFormat, piece: FilePart, options: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows of a piece, good and bad, in batches."""
    schema = row_schema(form)
    width = len(form.schema)
    rows: list[tuple[Any, ...]] = []
    for row in read(form, piece, options):
        if isinstance(row, BadLine):
            nothing = (None,) * (width - 1)
            rows.append((piece.path, row.offset, *nothing, row.why, row.text))
        else:
            rows.append((piece.path, *row, None, None))
        if len(rows) == _BATCH:
            yield _batch(rows, schema)
            rows = []
    if rows:
        yield _batch(rows, schema)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(column, field.type) for field, column in zip(schema, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Slice(InputPartition):  # type: ignore[misc]
    def __init__(self, piece: FilePart) -> None:
        super().__init__(tuple(piece))


class _Reader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, form: str, options: dict[str, str]) -> None:
        self.form = form
        self.options = options
        self.check = make_check(package_version())

    def partitions(self) -> Sequence[InputPartition]:
        """One for each piece of each file."""
        form = FORMATS[self.form]
        size = int(self.options.get("split", SPLIT))
        if size < 1:
            raise IngestError(f"split: {size} bytes; expected at least 1")
        return [
            _Slice(piece)
            for path in find_files(_paths(self.options))
            for piece in split(path, size, splittable=form.splittable(path))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a piece."""
        self.check()
        return batches(FORMATS[self.form], FilePart(*partition.value), self.options)


def _paths(options: dict[str, str]) -> list[str]:
    if "path" in options:
        return [options["path"]]
    return list(json.loads(options.get("paths", "[]")))


class TraceSource(DataSource):  # type: ignore[misc]
    """What the sources of all formats have in common."""

    form = ""

    @classmethod
    def name(cls) -> str:
        """What `format(...)` calls it."""
        return PREFIX + cls.form

    def schema(self) -> StructType:
        """Its columns, with their meanings as comments."""
        from pyspark.sql.pandas.types import from_arrow_schema

        plain = row_schema(FORMATS[self.form])
        found = from_arrow_schema(plain)
        for field, column in zip(found.fields, plain, strict=True):
            field.metadata = {"comment": (column.metadata or {})[b"meaning"].decode()}
        return found

    def reader(self, schema: StructType) -> DataSourceReader:
        """Who reads it."""
        return _Reader(self.form, dict(self.options))


class Ns2TraceSource(TraceSource):
    """`roamcast.ns2trace`."""

    form = "ns2trace"


class Ns2MovementSource(TraceSource):
    """`roamcast.ns2movement`."""

    form = "ns2movement"


class BonnMotionSource(TraceSource):
    """`roamcast.bonnmotion`."""

    form = "bonnmotion"


class SumoFcdSource(TraceSource):
    """`roamcast.sumofcd`; option `geo`."""

    form = "sumofcd"


class GpsSource(TraceSource):
    """`roamcast.gps`."""

    form = "gps"


SOURCES = (Ns2TraceSource, Ns2MovementSource, BonnMotionSource, SumoFcdSource, GpsSource)


def register(spark: SparkSession) -> None:
    """Make the formats known to a session."""
    for source in SOURCES:
        spark.dataSource.register(source)
