"""Facts on their way to disk: row group by row group, so that the disk bounds a run's size, not memory.

A row group holds `ROW_GROUP` rows, the last one the rest, and codes the words that occur in it by the
alphabet. So the bytes of a file depend on its rows alone, not on the pieces in which they came. Facts that
are soon to be joined with others may be packed into one file, if they are few.
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
"Written last: a folder without it is not a whole run."

ROW_GROUP = 1 << 18
"Rows of a whole row group: some 10 MB of the widest table."


class FactsError(UserError):
    """A folder that does not hold the facts of a run, or cannot."""


class FactsWriter:
    """Writes the facts of one run into a folder, where nothing is changed before `finish`."""

    def __init__(self, folder: str | Path, packed: bool = False, tables: Iterable[str] = TABLES) -> None:
        """Begin; `packed` facts are one file if they are few. Files of other `tables` stay as they are."""
        self.folder = Path(folder)
        self.packed = packed
        self._tables: dict[str, TableWriter] = {}
        with self._blaming():
            self.folder.mkdir(parents=True, exist_ok=True)
            for name in tables:
                self._tables[name] = TableWriter(self.folder / f".{name}.parquet.partial", TABLES[name])

    def append(self, name: str, rows: pa.Table) -> None:
        """Write more rows of a table, now or when there are enough of them."""
        with self._blaming():
            self._tables[name].append(rows)

    def finish(self, run: RunManifest) -> Mapping[str, pa.Table]:
        """Write what is left, let tables appear under their names, and last say what was run; the tables."""
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
        """Remove what was written, if it is not finished."""
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
    """Writes one table into a file, which is there once it has a row group."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self.rows = 0
        "That came so far."
        self._schema = schema
        self._held: list[pa.Table] = []
        self._waiting = 0
        "Rows that are held."
        self._file: pq.ParquetWriter | None = None

    def append(self, rows: pa.Table) -> None:
        """Take more rows, and write those that fill row groups."""
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
        """The rows that are not yet written."""
        return self._code(pa.concat_tables(self._held)) if self._waiting else self._schema.empty_table()

    def close(self) -> None:
        """Write the rest."""
        if self._waiting or self._file is None:  # a table without rows has one row group without rows
            self._write(pa.concat_tables(self._held) if self._held else self._schema.empty_table())
        self._held, self._waiting = [], 0
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        """Remove the file."""
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
    """The column with the words that occur in it, each once, coded by the alphabet.

    Of a word that is there twice the Parquet writer would count both and write one, and fill up the page
    with whatever was in memory.
    """
    pieces: list[tuple[Any, list[str]]] = [
        (chunk.indices.to_numpy(), chunk.dictionary.to_pylist()) for chunk in column.chunks
    ]
    occurring: set[str] = set()
    for codes, words in pieces:
        often = np.bincount(codes, minlength=len(words))
        occurring.update(words[code] for code in np.flatnonzero(often).tolist())
    place = {word: number for number, word in enumerate(sorted(occurring))}
    coded = [np.array([place.get(word, 0) for word in words], np.int16)[codes] for codes, words in pieces]
    whole = np.concatenate([np.zeros(0, np.int16), *coded])
    return pa.DictionaryArray.from_arrays(pa.array(whole), pa.array(list(place), pa.string()))
