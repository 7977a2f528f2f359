"""The tables of one run in its folder: whole for whoever asks so, by column and in pieces for metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.schema import TABLES


class FactsFolder(Mapping[str, pa.Table]):
    """The facts of a run in a folder; nothing is read before it is asked for, and nothing is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getitem__(self, table: str) -> pa.Table:
        from roamcast.facts.tables import read_table

        return read_table(self.folder / f"{table}.parquet", TABLES[table])

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

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
