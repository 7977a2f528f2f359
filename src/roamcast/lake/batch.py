"""Writing batches: many runs' rows of a table into one file, sorted by run, in bounded memory."""

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
import pyarrow.parquet as pq

from roamcast.lake.columns import TABLES, conform, dictionary_columns
from roamcast.lake.log import Batch, TableFile
from roamcast.lake.storage import StorageUrl

GROUP_ROWS = 1 << 18
"Rows of a row group: what a reader holds at a time."

Piece = tuple[str, pa.Table]
"Rows of one run, and the run."


class DamagedRows(Exception):
    """Rows that are not what was written."""

    def __init__(self, runs: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{run}: {what}" for run, what in runs.items()))
        self.runs = dict(runs)


def new_name() -> str:
    """A name for a batch that no other has."""
    return uuid.uuid4().hex[:16]


def table_file(facts: StorageUrl, table: str, batch: str) -> StorageUrl:
    """The file of a table of a batch."""
    return facts / table / f"{batch}.parquet"


def join_batches(
    facts: StorageUrl, table: str, name: str, batches: Sequence[Batch], drop: frozenset[str]
) -> TableFile | None:
    """Write the table of batch `name` from others, without the runs `drop`; None if nothing is left."""
    streams = [split_runs(facts, table, batch, drop) for batch in batches if table in batch.files]
    return write_pieces(facts, table, name, heapq.merge(*streams, key=lambda piece: piece[0]))


def split_runs(facts: StorageUrl, table: str, batch: Batch, drop: frozenset[str]) -> Iterator[Piece]:
    """The rows of a batch's table but for those of `drop`, run by run, a row group at a time."""
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
    """The first and the last run of each row group."""
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
    """Open the file of a batch's table; OSError if its footer is not the one that was written.

    Without this check a flipped bit in a column's name would read as a column that the file does not have.
    """
    place, told = table_file(facts, table, batch.name), batch.files[table]
    file = place.open()
    if told.footer:
        file.seek(max(file.size() - told.footer_size, 0))
        if hashlib.blake2b(file.read(), digest_size=16).hexdigest() != told.footer:
            file.close()
            raise OSError(errno.EIO, "its footer is not what was written", str(place))
        file.seek(0)
    return file


def open_table(file: pa.NativeFile, table: str) -> pq.ParquetFile:
    """A file of facts for reading: words stay coded, and every page is checked."""
    metadata = pq.read_metadata(file)
    words = [name for name in dictionary_columns(table) if name in metadata.schema.names]
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=words, page_checksum_verification=True)


def cut(rows: pa.Table) -> Iterator[Piece]:
    """Rows that are sorted by run, run by run."""
    if not len(rows):
        return
    runs = rows["run"].chunk(0)
    codes = runs.indices.to_numpy()
    starts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()]
    names = runs.dictionary.to_pylist()
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        yield names[codes[start]], rows.slice(start, end - start)


def tag_rows(run: str, table: str, rows: pa.Table) -> pa.Table:
    """The rows with their run, in the lake's types."""
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
    """Write pieces as one file; what it is, or None if there were no rows."""
    target = table_file(facts, table, name)
    (facts / table).make_folder()
    waiting: list[pa.Table] = []
    sink: _HashedFile | None = None
    writer: pq.ParquetWriter | None = None
    count = rows = 0

    def flush() -> None:
        nonlocal sink, writer, rows, waiting
        joined = pa.concat_tables(waiting).unify_dictionaries().combine_chunks().cast(TABLES[table])
        if sink is None or writer is None:
            sink = _HashedFile(target)
            writer = pq.ParquetWriter(sink, TABLES[table], compression="zstd", write_page_checksum=True)
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
        return sink.finish(count)
    except BaseException:
        if sink is not None:
            sink.abandon()
        raise


class _HashedFile:
    """A file that is written, counted and hashed, and has its name only when it is whole."""

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
        """Whether nothing can be written any more."""
        return bool(self.stream.closed)

    def write(self, content: Any) -> int:
        if self.closed:  # abandoned: the writer still wants to write its end
            return len(content)
        self.hashed.update(content)
        if self.footer_start is not None:
            self.footer.update(content)
        self.size += len(content)
        self.stream.write(content)
        return len(content)

    def begin_footer(self) -> None:
        """Note that all pages are written."""
        self.footer_start = self.size

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        if not self.closed:
            self.stream.flush()

    def close(self) -> None:
        """Parquet's writer closes what it writes to; the file is closed when it is whole."""

    def finish(self, rows: int) -> TableFile:
        if self.draft is not None:
            self.stream.flush()
            os.fsync(self.stream.fileno())
        self.stream.close()
        if self.draft is not None:
            self.draft.replace(str(self.target))
        footer_size = self.size - (self.footer_start or 0)
        return TableFile(self.size, rows, self.hashed.hexdigest(), footer_size, self.footer.hexdigest())

    def abandon(self) -> None:
        with suppress(OSError):
            self.stream.close()
        if self.draft is not None:
            self.draft.unlink(missing_ok=True)
