"""Reading the facts of one run from a folder in bounded memory, for the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import RUN_FILE, FactsError, RunManifest


class FolderSource:
    """Reads the tables that `Facts.write` wrote, by column."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self) -> RunManifest:
        """Return the manifest of the run."""
        try:
            return msgspec.json.decode((self.folder / RUN_FILE).read_bytes(), type=RunManifest)
        except (OSError, ValueError) as error:
            raise FactsError(f"{self.folder / RUN_FILE}: not the manifest of a run: {error}") from None

    def read(self, table: str, *columns: str) -> pa.Table:
        """Return the named columns of a table, in that order."""
        with self._open(table) as file:
            return file.read(columns=list(columns), use_threads=False).select(columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """Yield the named columns of a table in batches; strings stay dictionary-encoded."""
        with self._open(table) as file:
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group, columns=list(columns), use_threads=False).to_batches()

    def _open(self, table: str) -> pq.ParquetFile:
        words = [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]
        return pq.ParquetFile(self.folder / f"{table}.parquet", read_dictionary=words, memory_map=True)
