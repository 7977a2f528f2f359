"""Writing and reading of batches: one file per table with the rows of many runs, sorted by their cells."""

from __future__ import annotations

import errno
import hashlib
import heapq
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roamcast.lake.cells import UNKNOWN, RunCell, sort_key, tag_rows
from roamcast.lake.columns import TABLES, conform, dictionary_columns, fact_columns
from roamcast.lake.delta import statistics
from roamcast.lake.run_index import INDEX_KEY, RunIndex, encode_index
from roamcast.lake.snapshot import Batch, TableFile
from roamcast.lake.storage import StorageUrl

GROUP_ROWS = 1 << 18
"Number of rows in a row group, the unit that a reader loads into memory."

Piece = tuple[str, pa.Table]
"A run id and rows of that run, without the columns of the run and its cell."


class DamagedRows(Exception):
    """Stored rows that differ from what was written; `runs` maps each affected run to the problem."""

    def __init__(self, runs: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{run}: {what}" for run, what in runs.items()))
        self.runs = dict(runs)


def new_name() -> str:
    """Return a unique name for a batch."""
    return uuid.uuid4().hex[:16]


def table_file(facts: StorageUrl, table: str, batch: str) -> StorageUrl:
    """Return the URL of the file that contains a batch's rows of a table."""
    return facts / table / f"{batch}.parquet"


def join_batches(
    facts: StorageUrl,
    table: str,
    name: str,
    batches: Sequence[Batch],
    *,
    drop: frozenset[str] = frozenset(),
    cells: Mapping[str, RunCell] = MappingProxyType({}),
) -> TableFile | None:
    """Merge a table of `batches` into batch `name`, without the runs `drop`; return None if empty.

    Rows get the cells in `cells` and are sorted by them.
    """
    streams = [_in_order(facts, table, batch, drop, cells) for batch in batches if table in batch.files]
    merged = heapq.merge(*streams, key=lambda piece: sort_key(piece[0], cells.get(piece[0], UNKNOWN)))
    return write_pieces(facts, table, name, merged, cells)


def _in_order(
    facts: StorageUrl, table: str, batch: Batch, drop: frozenset[str], cells: Mapping[str, RunCell]
) -> Iterator[Piece]:
    """Yield the rows of a batch's table, sorted, except for the runs `drop`.

    A row group of dropped runs is not read. If the file is sorted already, each row group is read once.
    """
    with open_file(facts, table, batch) as file:
        opened = open_table(file, table)
        index = RunIndex(opened)
        names = fact_columns(table)
        known = [name for name in names if name in opened.schema_arrow.names]
        held, rows = -1, pa.table({})
        for run in sorted(index.runs.keys() - drop, key=lambda run: sort_key(run, cells.get(run, UNKNOWN))):
            for piece in index.runs[run]:
                if piece.group != held:
                    found = opened.read_row_group(piece.group, columns=known, use_threads=False)
                    held, rows = piece.group, conform(found, table, names)
                yield run, rows.slice(piece.start, piece.length)


def open_file(facts: StorageUrl, table: str, batch: Batch) -> pa.NativeFile:
    """Open the file of a batch's table; raise OSError if its footer has been damaged.

    Without this check, a flipped bit in a column's name would look like a missing column.
    """
    place, recorded = table_file(facts, table, batch.name), batch.files[table]
    file = place.open()
    if recorded.footer:
        file.seek(max(file.size() - recorded.footer_size, 0))
        if hashlib.blake2b(file.read(), digest_size=16).hexdigest() != recorded.footer:
            file.close()
            raise OSError(errno.EIO, "the footer does not match its digest", str(place))
        file.seek(0)
    return file


def open_table(file: pa.NativeFile, table: str) -> pq.ParquetFile:
    """Open a file of facts; strings stay dictionary-encoded, and page checksums are verified."""
    metadata = pq.read_metadata(file)
    words = [name for name in dictionary_columns(table) if name in metadata.schema.names]
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=words, page_checksum_verification=True)


def write_pieces(
    facts: StorageUrl,
    table: str,
    name: str,
    pieces: Iterable[Piece],
    cells: Mapping[str, RunCell] = MappingProxyType({}),
) -> TableFile | None:
    """Write pieces as one file; return its size and digests, or None if there are no rows."""
    (facts / table).make_folder()
    writer: _TableWriter | None = None
    waiting: list[Piece] = []
    rows = 0
    try:
        for run, piece in pieces:
            waiting.append((run, piece))
            rows += len(piece)
            if rows >= GROUP_ROWS:
                writer = writer or _TableWriter(table_file(facts, table, name), table, cells)
                writer.write(waiting)
                waiting, rows = [], 0
        if waiting:
            writer = writer or _TableWriter(table_file(facts, table, name), table, cells)
            writer.write(waiting)
        return None if writer is None else writer.finish()
    except BaseException:
        if writer is not None:
            writer.file.abandon()
        raise


class _TableWriter:
    """Writes the rows of a table as one file, with an index of its runs."""

    def __init__(self, target: StorageUrl, table: str, cells: Mapping[str, RunCell]) -> None:
        self.schema, self.cells = TABLES[table], cells
        self.names = fact_columns(table)
        self.file = _HashedFile(target)
        self.counts: list[tuple[str, int]] = []
        self.unordered: set[str] = set()
        self.metadata: list[pq.FileMetaData] = []
        self.writer = pq.ParquetWriter(
            self.file,
            self.schema,
            compression="zstd",
            write_page_checksum=True,
            write_page_index=True,
            metadata_collector=self.metadata,
        )

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write rows as row groups."""
        facts = self.schema.empty_table().select(self.names).schema
        counts = [(run, len(rows)) for run, rows in pieces]
        joined = pa.concat_tables([encode(rows, facts) for _, rows in pieces]).unify_dictionaries()
        tagged = tag_rows(joined.combine_chunks(), counts, self.cells, self.schema)
        self.unordered.update(_columns_with_nan(tagged))
        self.writer.write_table(tagged, row_group_size=GROUP_ROWS)
        self.counts += counts

    def finish(self) -> TableFile:
        """Complete the file; return its description."""
        self.writer.add_key_value_metadata({INDEX_KEY.decode(): encode_index(self.counts).decode()})
        self.file.begin_footer()
        self.writer.close()
        count = sum(rows for _, rows in self.counts)
        return self.file.finish(count, statistics(self.metadata[0], self.schema, self.unordered))


def encode(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows in the types of `schema`, with strings dictionary-encoded where it says so."""
    columns = []
    for field in schema:
        found = rows[field.name]
        if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(found.type):
            found = found.dictionary_encode()
        columns.append(found if found.type == field.type else found.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _columns_with_nan(rows: pa.Table) -> list[str]:
    """Return the columns that contain NaN, for which Parquet's minimum and maximum do not hold."""
    floats = [field.name for field in rows.schema if pa.types.is_floating(field.type)]
    return [name for name in floats if pc.any(pc.is_nan(rows[name])).as_py()]


class _HashedFile:
    """An output file that computes its digests and appears under its name only when it is complete."""

    def __init__(self, target: StorageUrl) -> None:
        self.target = target
        self.hashed = hashlib.blake2b(digest_size=16)
        self.footer = hashlib.blake2b(digest_size=16)
        self.size = 0
        self.footer_start: int | None = None
        self.draft = None
        if target.local is not None:
            self.draft = target.local.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}")
            self.stream: Any = self.draft.open("wb")
        else:
            system, path = target.file_system
            self.stream = system.open_output_stream(path)

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return bool(self.stream.closed)

    def write(self, content: Any) -> int:
        if self.closed:  # abandoned: the Parquet writer still writes its footer
            return len(content)
        self.hashed.update(content)
        if self.footer_start is not None:
            self.footer.update(content)
        self.size += len(content)
        self.stream.write(content)
        return len(content)

    def begin_footer(self) -> None:
        """Mark the end of the pages: the following bytes belong to the footer."""
        self.footer_start = self.size

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        if not self.closed:
            self.stream.flush()

    def close(self) -> None:
        """Do nothing when the Parquet writer closes the file; `finish` and `abandon` close it."""

    def finish(self, rows: int, stats: str) -> TableFile:
        if self.draft is not None:
            self.stream.flush()
            os.fsync(self.stream.fileno())
        self.stream.close()
        if self.draft is not None:
            self.draft.replace(str(self.target))
        footer_size = self.size - (self.footer_start or 0)
        digests = self.hashed.hexdigest(), footer_size, self.footer.hexdigest()
        return TableFile(self.size, rows, *digests, stats)

    def abandon(self) -> None:
        with suppress(OSError):
            self.stream.close()
        if self.draft is not None:
            self.draft.unlink(missing_ok=True)
