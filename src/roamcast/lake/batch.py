"""Writing and reading of batches: one file per table with the rows of many runs, sorted by run."""

from __future__ import annotations

import errno
import hashlib
import heapq
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roamcast.lake.columns import TABLES, conform, dictionary_columns
from roamcast.lake.delta import statistics
from roamcast.lake.snapshot import Batch, TableFile
from roamcast.lake.storage import StorageUrl

GROUP_ROWS = 1 << 18
"Number of rows in a row group, the unit that a reader loads into memory."

Piece = tuple[str, pa.Table]
"A run id and rows of that run."


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
    facts: StorageUrl, table: str, name: str, batches: Sequence[Batch], drop: frozenset[str]
) -> TableFile | None:
    """Merge a table of `batches` into batch `name`, without the runs `drop`; return None if empty."""
    streams = [split_runs(facts, table, batch, drop) for batch in batches if table in batch.files]
    return write_pieces(facts, table, name, heapq.merge(*streams, key=lambda piece: piece[0]))


def split_runs(facts: StorageUrl, table: str, batch: Batch, drop: frozenset[str]) -> Iterator[Piece]:
    """Yield the rows of a batch's table, run by run, except for the runs `drop`, a row group at a time."""
    with open_file(facts, table, batch) as file:
        opened = open_table(file, table)
        for group, (first, last) in enumerate(runs_between(opened)):
            if first in drop and last in drop and (first == last or not _is_readable(opened, group)):
                continue
            whole = conform(opened.read_row_group(group, use_threads=False), table)
            for run, rows in cut(whole.combine_chunks()):
                if run not in drop:
                    yield run, rows


def runs_between(opened: pq.ParquetFile) -> list[tuple[str, str]]:
    """Return the first and the last run of each row group."""
    place = opened.schema_arrow.get_field_index("run")
    told = [
        opened.metadata.row_group(group).column(place).statistics for group in range(opened.num_row_groups)
    ]
    return [(each.min, each.max) for each in told]


def _is_readable(opened: pq.ParquetFile, group: int) -> bool:
    try:
        opened.read_row_group(group, use_threads=False)
    except (OSError, ValueError, pa.ArrowException):
        return False
    return True


def open_file(facts: StorageUrl, table: str, batch: Batch) -> pa.NativeFile:
    """Open the file of a batch's table; raise OSError if its footer has been damaged.

    Without this check, a flipped bit in a column's name would look like a missing column.
    """
    place, told = table_file(facts, table, batch.name), batch.files[table]
    file = place.open()
    if told.footer:
        file.seek(max(file.size() - told.footer_size, 0))
        if hashlib.blake2b(file.read(), digest_size=16).hexdigest() != told.footer:
            file.close()
            raise OSError(errno.EIO, "the footer does not match its digest", str(place))
        file.seek(0)
    return file


def open_table(file: pa.NativeFile, table: str) -> pq.ParquetFile:
    """Open a file of facts; strings stay dictionary-encoded, and page checksums are verified."""
    metadata = pq.read_metadata(file)
    words = [name for name in dictionary_columns(table) if name in metadata.schema.names]
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=words, page_checksum_verification=True)


def cut(rows: pa.Table) -> Iterator[Piece]:
    """Yield each run of a table that is sorted by run, with its rows."""
    if not len(rows):
        return
    runs = rows["run"].chunk(0)
    codes = runs.indices.to_numpy()
    starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()]
    names = runs.dictionary.to_pylist()
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        yield names[codes[start]], rows.slice(start, end - start)


def tag_rows(run: str, table: str, rows: pa.Table) -> pa.Table:
    """Return the rows with the column `run` added, in the types of the lake."""
    codes = pa.array(np.zeros(len(rows), np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array([run], pa.string()))
    schema = TABLES[table]
    names = [name for name in schema.names if name != "run"]
    rows = conform(rows, table, names)
    columns = [column]
    for field in schema:
        if field.name != "run":
            found = rows[field.name]
            if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(found.type):
                found = found.dictionary_encode()
            columns.append(found.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def write_pieces(facts: StorageUrl, table: str, name: str, pieces: Iterator[Piece]) -> TableFile | None:
    """Write pieces as one file; return its size and digests, or None if there are no rows."""
    target = table_file(facts, table, name)
    (facts / table).make_folder()
    waiting: list[pa.Table] = []
    sink: _HashedFile | None = None
    writer: pq.ParquetWriter | None = None
    metadata: list[pq.FileMetaData] = []
    unordered: set[str] = set()
    count = rows = 0

    def flush() -> None:
        nonlocal sink, writer, rows, waiting
        joined = pa.concat_tables(waiting).unify_dictionaries().combine_chunks().cast(TABLES[table])
        unordered.update(_columns_with_nan(joined))
        if sink is None or writer is None:
            sink = _HashedFile(target)
            writer = pq.ParquetWriter(
                sink,
                TABLES[table],
                compression="zstd",
                write_page_checksum=True,
                metadata_collector=metadata,
            )
        writer.write_table(joined, row_group_size=GROUP_ROWS)
        waiting, rows = [], 0

    try:
        for _, piece in pieces:
            waiting.append(piece)
            rows += len(piece)
            count += len(piece)
            if rows >= GROUP_ROWS:
                flush()
        if waiting:
            flush()
        if sink is None or writer is None:
            return None
        sink.begin_footer()
        writer.close()
        return sink.finish(count, statistics(metadata[0], TABLES[table], unordered))
    except BaseException:
        if sink is not None:
            sink.abandon()
        raise


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
