"""Reading the rows of single runs from a batch; a row group is decoded once for all its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from roamcast.lake.batch import cut, open_file, open_table, runs_between
from roamcast.lake.columns import TABLES, conform
from roamcast.lake.snapshot import Batch
from roamcast.lake.storage import StorageUrl


class BatchFiles:
    """Reads runs from the files of a batch; reading them in sorted order is the fastest."""

    def __init__(
        self, facts: StorageUrl, batch: Batch, columns: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.facts = facts
        self.batch = batch
        self.columns = columns or {}
        "Columns to decode, by table; all columns by default."
        self._stack = ExitStack()
        self._tables: dict[str, _Table] = {}

    def __enter__(self) -> BatchFiles:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    def read(self, run: str, table: str, columns: Sequence[str]) -> pa.Table:
        """Return the named columns of a run's rows."""
        pieces = list(self.pieces(run, table, columns))
        schema = pa.schema([TABLES[table].field(name) for name in columns])
        if not pieces:
            return schema.empty_table()
        return pa.Table.from_batches(pieces).unify_dictionaries().combine_chunks()

    def pieces(self, run: str, table: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the named columns of a run's rows, a row group at a time."""
        if table not in self.batch.files:
            return
        if table not in self._tables:
            file = self._stack.enter_context(open_file(self.facts, table, self.batch))
            self._tables[table] = _Table(file, table, self.columns.get(table))
        for rows in self._tables[table].find(run):
            yield from rows.select(columns).to_batches()


class _Table:
    def __init__(self, file: pa.NativeFile, table: str, columns: Sequence[str] | None) -> None:
        self.file = open_table(file, table)
        self.table = table
        self.columns = None if columns is None else ["run", *columns]
        self.ranges = runs_between(self.file)
        self.held = -1
        self.rows: dict[str, pa.Table] = {}

    def find(self, run: str) -> Iterator[pa.Table]:
        for group, (first, last) in enumerate(self.ranges):
            if first <= run <= last:
                if group != self.held:
                    whole = self.file.read_row_group(group, columns=self.columns, use_threads=False)
                    self.rows = dict(cut(conform(whole, self.table, self.columns).combine_chunks()))
                    self.held = group
                if run in self.rows:
                    yield self.rows[run]
