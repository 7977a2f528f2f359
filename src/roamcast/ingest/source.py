"""Python data sources for Spark: `spark.read.format("roamcast.ns2trace").load("runs/*.tr")`.

In rows of parsed lines `bad` is null. Rows of other lines contain only `file`, `offset`, `bad` (the reason)
and `text`. Many tasks read a file in parts of `split` bytes if its format can be split.
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
"Default size of the file part that a task reads [B]."

_BATCH = 10_000

PREFIX = "roamcast."


def row_schema(form: TraceFormat) -> pa.Schema:
    """Return the schema of a data source of this format."""
    file = pa.field("file", pa.string(), metadata={"meaning": "that the line is of"})
    bad = pa.field(
        "bad", pa.string(), metadata={"meaning": "why the line was not understood; null if it was"}
    )
    text = pa.field("text", pa.string(), metadata={"meaning": "how a bad line begins"})
    return pa.schema([file, *form.schema, bad, text])


def batches(form: TraceFormat, piece: FilePart, options: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file part, including bad lines, in batches."""
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
        """Return one partition for each part of each file."""
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
        """Yield the rows of a file part."""
        self.check()
        return batches(FORMATS[self.form], FilePart(*partition.value), self.options)


def _paths(options: dict[str, str]) -> list[str]:
    if "path" in options:
        return [options["path"]]
    return list(json.loads(options.get("paths", "[]")))


class TraceSource(DataSource):  # type: ignore[misc]
    """The base class of the data sources."""

    form = ""

    @classmethod
    def name(cls) -> str:
        """Return the name of the source for `format(...)`."""
        return PREFIX + cls.form

    def schema(self) -> StructType:
        """Return the columns of the source, with their meanings as comments."""
        from pyspark.sql.pandas.types import from_arrow_schema

        plain = row_schema(FORMATS[self.form])
        found = from_arrow_schema(plain)
        for field, column in zip(found.fields, plain, strict=True):
            field.metadata = {"comment": (column.metadata or {})[b"meaning"].decode()}
        return found

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of the source."""
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
    """Register the data sources in a Spark session."""
    for source in SOURCES:
        spark.dataSource.register(source)
