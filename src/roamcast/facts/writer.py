"""Write facts to disk by row group, so that the disk and not the memory limits the size of a run.

Each row group holds `ROW_GROUP` rows, the last one the rest, and has a sorted dictionary of the strings that
occur in it. So the bytes of a file depend only on its rows, not on the batches in which they were appended.
Short runs that are to be compacted soon may be written as one packed file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.errors import UserError
from roamcast.facts.folder import FactsFolder
from roamcast.facts.pack import MOST_ROWS, PACK, pack
from roamcast.facts.schema import TABLES

if TYPE_CHECKING:
    from roamcast.facts.tables import RunManifest

RUN_FILE = "run.json"
"The manifest, written last: a folder without it holds no finished run."

ROW_GROUP = 1 << 18
"Rows of a full row group; about 10 MB of the widest table."


class FactsError(UserError):
    """The facts of a run cannot be read or written."""


class FactsWriter:
    """Writes the facts of one run into a folder; files get their final names in `finish`."""

    def __init__(self, folder: str | Path, packed: bool = False, tables: Iterable[str] = TABLES) -> None:
        """Create the folder; `packed` writes a short run as one file. Files of other `tables` are kept."""
        self.folder = Path(folder)
        self.packed = packed
        self._tables: dict[str, TableWriter] = {}
        with self._blaming():
            self.folder.mkdir(parents=True, exist_ok=True)
            for name in tables:
                self._tables[name] = TableWriter(self.folder / f".{name}.parquet.partial", TABLES[name])

    def append(self, name: str, rows: pa.Table) -> None:
        """Append rows to a table; they are written once they fill a row group."""
        with self._blaming():
            self._tables[name].append(rows)

    def finish(self, run: RunManifest) -> Mapping[str, pa.Table]:
        """Write the pending rows, rename the files, write run.json last, and return the tables."""
        about = json.dumps(msgspec.to_builtins(run), indent=2, sort_keys=True) + "\n"
        with self._blaming():
            if self.packed and sum(table.rows for table in self._tables.values()) <= MOST_ROWS:
                held = {name: table.pending_rows() for name, table in self._tables.items()}
                (self.folder / PACK).write_bytes(pack(about, held))
                return held
            for table in self._tables.values():
                table.close()
            (self.folder / RUN_FILE).unlink(missing_ok=True)
            for name, table in self._tables.items():
                table.path.replace(self.folder / f"{name}.parquet")
            (self.folder / RUN_FILE).write_text(about, encoding="utf-8")
        return FactsFolder(self.folder)

    def discard(self) -> None:
        """Remove the unfinished files."""
        for table in self._tables.values():
            table.discard()

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.discard()
            raise FactsError(f"{self.folder}: facts cannot be written: {error.strerror or error}") from None


class TableWriter:
    """Writes one table into a file, which is created with the first row group."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self.rows = 0
        "Number of rows appended so far."
        self._schema = schema
        self._held: list[pa.Table] = []
        self._waiting = 0
        "Number of pending rows in `_held`."
        self._file: pq.ParquetWriter | None = None

    def append(self, rows: pa.Table) -> None:
        """Append rows, and write those that fill row groups."""
        self._held.append(rows)
        self.rows += len(rows)
        self._waiting += len(rows)
        if self._waiting >= ROW_GROUP:
            whole = pa.concat_tables(self._held)
            for start in range(0, self._waiting - ROW_GROUP + 1, ROW_GROUP):
                self._write(whole.slice(start, ROW_GROUP))
            rest = whole.slice(self._waiting - self._waiting % ROW_GROUP)
            self._held, self._waiting = [rest], len(rest)

    def pending_rows(self) -> pa.Table:
        """Return the rows that are not written yet."""
        return self._code(pa.concat_tables(self._held)) if self._waiting else self._schema.empty_table()

    def close(self) -> None:
        """Write the pending rows and close the file."""
        if self._waiting or self._file is None:  # a table without rows has one row group without rows
            self._write(pa.concat_tables(self._held) if self._held else self._schema.empty_table())
        self._held, self._waiting = [], 0
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        """Close and remove the file."""
        if self._file is not None:
            with suppress(OSError, ValueError, pa.ArrowException):
                self._file.close()
        self.path.unlink(missing_ok=True)

    def _write(self, rows: pa.Table) -> None:
        if self._file is None:
            self._file = pq.ParquetWriter(
                self.path, self._schema, compression="zstd", write_page_checksum=True
            )
        self._file.write_table(self._code(rows), row_group_size=ROW_GROUP)

    def _code(self, rows: pa.Table) -> pa.Table:
        columns = [
            encode_dictionary(column) if pa.types.is_dictionary(field.type) else column.combine_chunks()
            for field, column in zip(self._schema, rows.columns, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=self._schema)


def encode_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the column with a sorted dictionary that has each occurring string exactly once.

    With a duplicate string in the dictionary, the Parquet writer counts both and writes one, and fills the
    page with uninitialised memory.
    """
    pieces: list[tuple[Any, list[str]]] = [
        (chunk.indices.to_numpy(), chunk.dictionary.to_pylist()) for chunk in column.chunks
    ]
    occurring: set[str] = set()
    for codes, strings in pieces:
        often = np.bincount(codes, minlength=len(strings))
        occurring.update(strings[code] for code in np.flatnonzero(often).tolist())
    place = {string: number for number, string in enumerate(sorted(occurring))}
    coded = [
        np.array([place.get(string, 0) for string in strings], np.int16)[codes] for codes, strings in pieces
    ]
    whole = np.concatenate([np.zeros(0, np.int16), *coded])
    return pa.DictionaryArray.from_arrays(pa.array(whole), pa.array(list(place), pa.string()))
