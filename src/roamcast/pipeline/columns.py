"""Columns of one run's facts in its folder: whole where a metric sorts, piece by piece where it counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.schema import TABLES


class Folder:
    """The facts of a run in a folder, as the metrics read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, table: str, *columns: str) -> pa.Table:
        """The named columns of a table, in that order."""
        return self._open(table).read(columns=list(columns), use_threads=False).select(columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """The same piece by piece, so that a table of any length needs little memory."""
        file = self._open(table)
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=list(columns), use_threads=False).to_batches()

    def _open(self, table: str) -> pq.ParquetFile:
        words = [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]
        return pq.ParquetFile(self.folder / f"{table}.parquet", read_dictionary=words, memory_map=True)
