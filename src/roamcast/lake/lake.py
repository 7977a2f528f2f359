"""The lake: the facts of a campaign as tables, and the tables that the campaign computes from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.fingerprint import checked
from roamcast.lake.batch import open_file, table_file
from roamcast.lake.columns import TABLES, conform, spark_schema
from roamcast.lake.runs_table import RunsTable
from roamcast.lake.snapshot import Batch, LakeError, Snapshot
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FACTS_FOLDER = "facts"
TABLES_FOLDER = "tables"

CHECK_PAGES = {"parquet.page.verify-checksum.enabled": "true"}
"Options of Spark's Parquet reader that make a wrong page checksum an error."


def read_parquet(spark: SparkSession, schema: StructType, files: Iterable[str | Path]) -> DataFrame:
    """Return Parquet files as a DataFrame; verify page checksums, and take names of files literally."""
    # Spark takes a percent sign literally, not as an escape, and unescaped brackets as a pattern.
    urls = [f"file://{file.absolute()}" if isinstance(file, Path) else file for file in files]
    return spark.read.schema(schema).options(**CHECK_PAGES).option("__globPaths__", "false").parquet(*urls)


class Lake:
    """The tables in a campaign folder, at the snapshot that was read on opening or on `refresh`."""

    def __init__(self, url: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        self.place = StorageUrl(url)
        self.made = self.place / tables
        self.facts = self.place / FACTS_FOLDER
        self.log = RunsTable(self.facts)
        self.snapshot: Snapshot = self.log.read()

    def refresh(self) -> Snapshot:
        """Read the commits since the last snapshot; return the new snapshot."""
        self.snapshot = self.log.read(self.snapshot)
        return self.snapshot

    @property
    def tables(self) -> list[str]:
        """The names of all tables: those of the facts, then those that the campaign has computed so far."""
        made = self.made.list()
        return [*TABLES, *sorted(name[:-8] for name in made if name.endswith(".parquet"))]

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of a table, with `meaning` and `unit` in the metadata of its columns."""
        if table in TABLES:
            return TABLES[table]
        with self._made(table).open() as file:
            return pq.read_schema(file)

    def files(self, table: str, runs: Collection[str] | None = None) -> list[StorageUrl]:
        """Check and return the files of a table of facts; with `runs`, only those that contain one."""
        batches = [
            batch
            for batch in self.snapshot.batches.values()
            if table in batch.files and (runs is None or not batch.runs.keys().isdisjoint(runs))
        ]
        self.facts.each(partial(self._check_footer, table), batches)
        return [table_file(self.facts, table, batch.name) for batch in batches]

    def size(self, table: str) -> int:
        """Return the size of the files of a table [B]."""
        if table in TABLES:
            return sum(b.files[table].size for b in self.snapshot.batches.values() if table in b.files)
        return self.made.list()[f"{table}.parquet"].size

    def _check_footer(self, table: str, batch: Batch) -> None:
        try:
            open_file(self.facts, table, batch).close()
        except OSError as error:
            what = error.strerror or str(error).splitlines()[0]
            raise LakeError(
                f"{table_file(self.facts, table, batch.name)}: cannot be read: {what}; "
                f"see: roamcast campaign verify {self.place}"
            ) from None

    def dataset(self, table: str, runs: Collection[str] | None = None) -> ds.Dataset:
        """Return a table as an Arrow dataset, which reads rows only when it is scanned."""
        import pyarrow.dataset as ds  # which imports pandas

        places = self.files(table, runs) if table in TABLES else [self._made(table)]
        schema = self.schema(table)
        if not places:
            return ds.dataset(schema.empty_table())
        system, _ = self.place.file_system
        checking = ds.ParquetFileFormat(
            default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
        )
        return ds.dataset([place.file_system[1] for place in places], schema, checking, system)

    def frame(self, spark: SparkSession, table: str, runs: Collection[str] | None = None) -> DataFrame:
        """Return a table as a DataFrame, read by Spark's Parquet reader or, from S3, by Arrow."""
        places = self.files(table, runs) if table in TABLES else [self._made(table)]
        schema = spark_schema(self.schema(table))
        if not places:
            return spark.createDataFrame([], schema)
        if self.place.scheme != "s3":  # Spark's S3 connector is not available from PyPI
            return read_parquet(spark, schema, [place.local or str(place) for place in places])
        urls = [str(place) for place in places]
        names = self.schema(table).names
        fact = table in TABLES

        def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch["id"].to_pylist():
                    yield from _read(urls[number], names, table if fact else None)

        return spark.range(0, len(urls), 1, len(urls)).mapInArrow(checked(work), schema)

    def batch_of(self, run: str) -> Batch:
        """Return the batch that contains a run, or raise `LakeError`."""
        for batch in self.snapshot.batches.values():
            if run in batch.runs:
                return batch
        raise LakeError(
            f"{self.place}: has no run {run}; list its runs with: roamcast campaign runs {self.place}"
        )

    def _made(self, table: str) -> StorageUrl:
        file = self.made / f"{table}.parquet"
        if not file.exists():
            raise LakeError(f"{self.place}: has no table {table!r}; it has {', '.join(self.tables)}")
        return file


def open_lake(url: str | Path) -> Lake:
    """Return the lake of a campaign folder, or raise `LakeError` if there is none."""
    place = StorageUrl(url)
    if not (place / "campaign.json").exists() and not (place / FACTS_FOLDER).list():
        raise LakeError(f"{place}: no campaign was run here (no campaign.json)")
    return Lake(place)


def _read(url: str, names: list[str], table: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches; `table` is its table of facts, or None for another table."""
    with StorageUrl(url).open() as file:
        for batch in pq.ParquetFile(file, page_checksum_verification=True).iter_batches(columns=names):
            rows = pa.Table.from_batches([batch])
            yield from _plain(rows if table is None else conform(rows, table)).to_batches()


def _plain(rows: pa.Table) -> pa.Table:
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in rows.columns
    ]
    return pa.Table.from_arrays(columns, names=rows.schema.names)
