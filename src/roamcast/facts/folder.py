"""Read the tables of a run from its folder: whole tables, selected columns, or batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.schema import TABLES


class FactsFolder(Mapping[str, pa.Table]):
    """The tables of a run in a folder, by name; each access reads the file again."""

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
        """Return the named columns of a table, in that order."""
        return self._open(table).read(columns=list(columns), use_threads=False).select(columns)

    def pieces(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """Yield the named columns of a table in batches, so that memory stays bounded."""
        file = self._open(table)
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=list(columns), use_threads=False).to_batches()

    def _open(self, table: str) -> pq.ParquetFile:
        words = [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]
        return pq.ParquetFile(self.folder / f"{table}.parquet", read_dictionary=words, memory_map=True)
