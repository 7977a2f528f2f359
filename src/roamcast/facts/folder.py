"""Read the tables of a run from its folder: whole tables, selected columns, or batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

    def group_sizes(self, table: str) -> list[int]:
        """Return the number of rows of each row group of a table."""
        with self._verified(table) as file:
            return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]

    def read_group(self, table: str, group: int, columns: Sequence[str]) -> pa.Table:
        """Return the named columns of a row group, with the checks that a whole table has."""
        from roamcast.facts.tables import shape_table

        with self._verified(table) as file:
            rows = file.read_row_group(group, columns=list(columns), use_threads=False)
            rows.validate(full=True)
            if len(rows) != file.metadata.row_group(group).num_rows:
                raise ValueError(f"row group {group} has {len(rows)} rows")
        schema = pa.schema([TABLES[table].field(name) for name in columns])
        return shape_table(self.folder / f"{table}.parquet", rows, schema)

    @contextmanager
    def _verified(self, table: str) -> Iterator[pq.ParquetFile]:
        """Open a table with page checksums and not mapped, so that what was read does not stay in memory."""
        from roamcast.facts.writer import FactsError

        path = self.folder / f"{table}.parquet"
        strings = [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]
        try:
            with pq.ParquetFile(path, read_dictionary=strings, page_checksum_verification=True) as file:
                yield file
        except FileNotFoundError:
            raise FactsError(f"{path}: missing") from None
        except (OSError, ValueError, pa.ArrowException) as error:
            raise FactsError(f"{path}: damaged or not Parquet: {error}") from None

    def _open(self, table: str) -> pq.ParquetFile:
        strings = [field.name for field in TABLES[table] if pa.types.is_dictionary(field.type)]
        return pq.ParquetFile(self.folder / f"{table}.parquet", read_dictionary=strings, memory_map=True)
