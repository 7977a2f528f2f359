"""Tables in S3 as a Python data source that reads only the columns and rows that a query needs.

PyPI has no S3 connector for Spark, so Arrow reads the files in the Python workers. Spark passes predicates to
the source; row groups whose statistics exclude them are not read. Columns are those that the query names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from roamcast.fingerprint import make_check, package_version
from roamcast.lake.columns import plain_schema, spark_schema
from roamcast.lake.lake import Lake
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMAT = "roamcast.files"
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"

_COMPARISONS = {
    "EqualTo": lambda column, value: column == value,
    "GreaterThan": lambda column, value: column > value,
    "GreaterThanOrEqual": lambda column, value: column >= value,
    "LessThan": lambda column, value: column < value,
    "LessThanOrEqual": lambda column, value: column <= value,
    "In": lambda column, value: column.isin(list(value)),
}


def remote_frame(spark: SparkSession, lake: Lake, table: str, columns: Sequence[str]) -> DataFrame:
    """Return columns of a table of facts as a DataFrame whose predicates reach the files."""
    whole = plain_schema(lake.schema(table))
    schema = pa.schema([whole.field(name) for name in columns])
    files = [str(place) for place in lake.files(table)]
    if not files:
        return spark.createDataFrame([], spark_schema(schema))
    spark.dataSource.register(TableFiles)
    spark.conf.set(_PUSHDOWN, "true")
    options = {"files": json.dumps(files), "version": package_version()}
    return spark.read.format(FORMAT).schema(spark_schema(schema)).options(**options).load()


def named_columns(query: str, schema: pa.Schema) -> list[str]:
    """Return the columns of a table that occur in a query; all if it may mean others, as `*` does."""
    words = {word.lower() for word in re.findall(r"\w+", query)}
    stars = re.sub(r"count\s*\(\s*\*\s*\)", "", query, flags=re.IGNORECASE)
    star = re.search(r"(^|[\s,.(])\*\s*([,;)]|$|from\b|except\b|\|>)", stars, flags=re.IGNORECASE)
    if star or words & {"natural", "table", "columns", "describe"} or "|>" in query:
        return list(schema.names)
    found = [name for name in schema.names if name.lower() in words]
    return found or schema.names[:1]  # count(*) needs rows, and a frame has a column


class TableFiles(DataSource):  # type: ignore[misc]
    """The data source; its options are the files as JSON, and the version of the driver's code."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def reader(self, schema: StructType) -> TableReader:
        """Return the reader of the files."""
        return TableReader(json.loads(self.options["files"]), schema, self.options["version"])


class TableReader(DataSourceReader):  # type: ignore[misc]
    """Reads one file per task."""

    def __init__(self, files: list[str], schema: StructType, version: str) -> None:
        self.files = files
        self.schema = schema
        self.version = version
        self.filters: list[Any] = []

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Note the predicates; return all, so that Spark applies them to the rows that are read."""
        self.filters = filters
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """Return a partition for each file."""
        return [InputPartition(number) for number in range(len(self.files))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file that the predicates may hold for."""
        make_check(self.version)()
        from pyspark.sql.pandas.types import to_arrow_schema

        wanted = to_arrow_schema(self.schema)
        yield from read_rows(StorageUrl(self.files[partition.value]), wanted, to_expression(self.filters))


def read_rows(file: StorageUrl, schema: pa.Schema, rows: ds.Expression | None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a Parquet file and the rows for which an expression holds; absent columns are null."""
    system, path = file.file_system
    checking = ds.ParquetFileFormat(
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    )
    found = ds.dataset([path], schema, checking, system)
    for batch in found.to_batches(columns=schema.names, filter=rows):
        if batch.num_rows:
            yield batch


def to_expression(filters: Iterable[Any]) -> ds.Expression | None:
    """Return the predicates that Arrow knows as one expression; None if it knows none of them."""
    found: ds.Expression | None = None
    for each in filters:
        compare = _COMPARISONS.get(type(each).__name__)
        if compare is None or len(each.attribute) != 1 or not isinstance(each, datasource.Filter):
            continue
        expression = compare(ds.field(each.attribute[0]), each.value)
        found = expression if found is None else found & expression
    return found
