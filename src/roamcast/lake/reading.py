"""Reading the facts of single runs: from a folder of `roamcast run --facts`, or from a campaign (DIR/run=ID).

In a campaign, a row group is decoded once for all its runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.folder import FactsFolder
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError, RunManifest
from roamcast.lake.batch import open_file, open_table
from roamcast.lake.columns import TABLES as LAKE_TABLES
from roamcast.lake.columns import conform, fact_columns
from roamcast.lake.lake import open_lake
from roamcast.lake.run_index import RowSlice, RunIndex
from roamcast.lake.snapshot import Batch, TableFile
from roamcast.lake.storage import StorageUrl

_MARK = "run="


def read_facts(where: str) -> Facts:
    """Return the facts of the run at `where`, or raise `FactsError`."""
    place = StorageUrl(where)
    campaign, _, last = str(place).rpartition("/")
    if last.startswith(_MARK) and not (place / "run.json").exists():
        return read_run(campaign, last.removeprefix(_MARK))
    if place.local is None:
        raise FactsError(f"{where}: is not a run; a run of a campaign is written as DIR/run=ID")
    return Facts.read(place.local)


def read_run(campaign: str, run: str) -> Facts:
    """Return the facts of one run of a campaign, equal to those that `roamcast run --facts` writes."""
    lake = open_lake(campaign)
    batch = lake.batch_of(run)
    files = _open_batch(str(lake.facts), batch.name, tuple(batch.files.items()))
    try:
        about = files.read(run, "about", ["told"])["told"].to_pylist()
        tables = {name: files.read(run, name, schema.names) for name, schema in TABLES.items()}
        if not about:
            raise ValueError("its row of the table 'about' is missing")
        for name, rows in tables.items():
            _check_columns(f"{campaign}/{_MARK}{run}", name, rows)
        whole = {name: rows.cast(TABLES[name]) for name, rows in tables.items()}
        return Facts(msgspec.json.decode(about[0], type=RunManifest), whole)
    except (OSError, ValueError, pa.ArrowException) as error:  # msgspec's own errors are ValueErrors
        raise FactsError(f"{campaign}/{_MARK}{run}: damaged: {' '.join(str(error).split())}") from None


def open_facts(where: str) -> tuple[Facts, FactsFolder | RunTables]:
    """Return the facts of the run at `where` and their tables, which are read when they are needed."""
    place = StorageUrl(where)
    campaign, _, last = str(place).rpartition("/")
    if last.startswith(_MARK) and not (place / "run.json").exists():
        tables = RunTables(campaign, last.removeprefix(_MARK))
        return Facts(tables.run, tables), tables
    if place.local is None:
        raise FactsError(f"{where}: is not a run; a run of a campaign is written as DIR/run=ID")
    facts = Facts.open(place.local)
    return facts, FactsFolder(place.local)


class RunTables(Mapping[str, pa.Table]):
    """The tables of one run of a campaign; each access reads the files again. Not safe for threads."""

    def __init__(self, campaign: str, run: str) -> None:
        lake = open_lake(campaign)
        self._where, self._run = f"{campaign}/{_MARK}{run}", run
        self._facts, self._batch = lake.facts, lake.batch_of(run)
        self._opened: dict[str, tuple[pq.ParquetFile, list[RowSlice]]] = {}
        about = [
            text
            for group in range(len(self.group_sizes("about")))
            for text in self.read_group("about", group, ["told"])["told"].to_pylist()
        ]
        with self._blaming():
            if not about:
                raise ValueError("its row of the table 'about' is missing")
            self.run = msgspec.json.decode(about[0], type=RunManifest)

    def __getitem__(self, table: str) -> pa.Table:
        schema = TABLES[table]
        pieces = [
            self.read_group(table, group, schema.names) for group in range(len(self.group_sizes(table)))
        ]
        if not pieces:
            return schema.empty_table()
        return pa.concat_tables(pieces).unify_dictionaries().combine_chunks()

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def group_sizes(self, table: str) -> list[int]:
        """Return the number of rows of the run in each of its row groups."""
        if table not in self._batch.files:
            return []
        with self._blaming():
            return [piece.length for piece in self._open(table)[1]]

    def read_group(self, table: str, group: int, columns: Sequence[str]) -> pa.Table:
        """Return the named columns of the run's rows in one of its row groups."""
        with self._blaming():
            file, pieces = self._open(table)
            piece = pieces[group]
            known = [name for name in columns if name in file.schema_arrow.names]
            found = file.read_row_group(piece.group, columns=known, use_threads=False)
            rows = conform(found, table, columns).slice(piece.start, piece.length).combine_chunks()
            _check_columns(self._where, table, rows)
            wanted = TABLES[table] if table in TABLES else LAKE_TABLES[table]
            return rows.cast(pa.schema([wanted.field(name) for name in columns]))

    def _open(self, table: str) -> tuple[pq.ParquetFile, list[RowSlice]]:
        if table not in self._opened:
            file = open_table(open_file(self._facts, table, self._batch), table)
            self._opened[table] = file, RunIndex(file).runs.get(self._run, [])
        return self._opened[table]

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:  # msgspec's own errors are ValueErrors
            raise FactsError(f"{self._where}: damaged: {' '.join(str(error).split())}") from None


def _check_columns(where: str, table: str, rows: pa.Table) -> None:
    for name in rows.column_names:
        if rows[name].null_count:
            raise FactsError(
                f"{where}: was simulated by an older version, without the column {table}.{name}; "
                "run the campaign again"
            )


@lru_cache(maxsize=4)
def _open_batch(facts: str, name: str, files: tuple[tuple[str, TableFile], ...]) -> BatchFiles:
    """Return the opened files of a batch; reading runs in order decodes each row group once."""
    return BatchFiles(StorageUrl(facts), Batch(name, {}, dict(files)))


class BatchFiles:
    """Reads runs from the files of a batch; reading them in the order of the files is the fastest."""

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
        schema = pa.schema([LAKE_TABLES[table].field(name) for name in columns])
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
        self.columns = fact_columns(table) if columns is None else list(columns)
        self.known = [name for name in self.columns if name in self.file.schema_arrow.names]
        self.index = RunIndex(self.file)
        self.held = -1
        self.rows = pa.table({})

    def find(self, run: str) -> Iterator[pa.Table]:
        for piece in self.index.runs.get(run, ()):
            if piece.group != self.held:
                found = self.file.read_row_group(piece.group, columns=self.known, use_threads=False)
                self.rows = conform(found, self.table, self.columns).combine_chunks()
                self.held = piece.group
            yield self.rows.slice(piece.start, piece.length)


def read_columns(campaign: str, run: str, columns: Mapping[str, Sequence[str]]) -> dict[str, pa.Table]:
    """Return the named `columns` of tables of one run of a campaign, or raise `FactsError`."""
    lake = open_lake(campaign)
    batch = lake.batch_of(run)
    try:
        with BatchFiles(lake.facts, batch, columns) as files:
            return {table: files.read(run, table, names) for table, names in columns.items()}
    except (OSError, ValueError, pa.ArrowException) as error:
        raise FactsError(f"{campaign}/{_MARK}{run}: damaged: {' '.join(str(error).split())}") from None
