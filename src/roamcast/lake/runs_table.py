"""The Delta table `runs`, which determines the valid facts, and the tables of facts that follow it.

    facts/runs/_delta_log/N.json         the commits of batches
    facts/runs/BATCH-DIGEST.parquet      a row for each run of a batch, and the names of the batch's files
    facts/TABLE/_delta_log/N.json        the files of a table of facts, for any reader of Delta tables
    facts/TABLE/BATCH.parquet            the rows of a batch

A run counts when `runs` has it. A commit that adds runs changes the tables of facts first and `runs` last; a
commit that removes runs changes `runs` first. So at every moment the tables of facts have all rows of the
runs that count. `sync` makes them equal to `runs` after an interrupted commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import partial
from sys import intern

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.lake import delta
from roamcast.lake.cells import sort_key
from roamcast.lake.columns import RUNS, TABLES
from roamcast.lake.snapshot import Batch, Commit, CommittedRun, LakeError, Snapshot, TableFile
from roamcast.lake.storage import StorageUrl

RUNS_TABLE = "runs"
_OLD_LOG = "_log"
_FILES = b"roamcast.files"
"The key in the metadata of a file of `runs`: the files of its batch by table, as JSON."

_BROUGHT = "roamcast.runs"
"The key in the description of a commit: the runs that it adds, if it removes none."

_ATTEMPTS = 10
"Number of times that a read or a commit is repeated because of concurrent commits."


_inherited: dict[str, Snapshot] = {}
"The last snapshot that was read from each table."


class RunsTable:
    """The table `runs` of a lake."""

    def __init__(self, facts: StorageUrl) -> None:
        self.facts = facts
        self.place = facts / RUNS_TABLE

    def create(self, migrating: bool = False) -> None:
        """Create the Delta tables that do not exist, and add columns that were added since.

        Raise `LakeError` if the lake has an older format and this is not its migration.
        """
        self._check_format()
        if not migrating and (found := self.format()) not in ("", delta.FORMAT):
            folder = str(self.facts).rpartition("/")[0]
            raise LakeError(
                f"{folder}: has the lake format {found}, which this version reads and does not write; "
                f"migrate it with: roamcast lake migrate {folder}"
            )
        schemas = {**TABLES, RUNS_TABLE: RUNS}
        self.facts.each(self._create, schemas, schemas.values())

    def _create(self, table: str, schema: pa.Schema) -> None:
        place = self.facts / table
        try:
            delta.create_table(place, schema)
        except LakeError:
            if table == RUNS_TABLE:
                raise
            (place / delta.DELTA_LOG).remove()  # `sync` derives it from `runs`
            delta.create_table(place, schema)

    def format(self) -> str:
        """Return the version of the lake's format; empty if there is no lake."""
        table = delta.open_table(self.place)
        return "" if table is None else delta.find_format(table)

    def set_format(self) -> None:
        """Declare that all tables have the present format; `runs`, which decides, is the last."""
        for table in (*TABLES, RUNS_TABLE):
            opened = delta.open_table(self.facts / table)
            if opened is not None and delta.find_format(opened) != delta.FORMAT:
                delta.set_format(opened)

    def _check_format(self) -> None:
        if (self.facts / _OLD_LOG).list():
            raise LakeError(
                f"{self.facts}: has the lake format 1, this version reads format {delta.FORMAT}; "
                "run the campaign into another folder"
            )

    def read(self, known: Snapshot | None = None) -> Snapshot:
        """Return the current snapshot; batches of the earlier snapshot `known` are not read again.

        In a process that was forked from a reader, return the snapshot that the parent has read last.
        """
        if delta.is_forked() and str(self.place) in _inherited:
            return _inherited[str(self.place)]
        snapshot = _inherited[str(self.place)] = self._read(known)
        return snapshot

    def _read(self, known: Snapshot | None) -> Snapshot:
        batches = known.batches if known is not None else {}
        for attempt in range(_ATTEMPTS):
            table = delta.open_table(self.place)
            if table is None:
                self._check_format()
                return Snapshot()
            found = delta.list_files(table)
            names = sorted(found, key=lambda name: (found[name], name))
            try:
                snapshot = Snapshot(table.version(), {})
                for name in names:
                    batch = batches.get(_batch_name(name)) or self._read_batch(name)
                    snapshot.batches[batch.name] = batch
                return _without_duplicates(snapshot)
            except FileNotFoundError as error:  # removed by a concurrent compaction?
                if attempt == _ATTEMPTS - 1:
                    raise LakeError(f"{error.filename or error}: is missing; {_ADVICE}") from None
        raise AssertionError("every attempt returns or raises")

    def append(self, snapshot: Snapshot, entry: Commit) -> Snapshot | None:
        """Commit `entry` after `snapshot`; return the new snapshot, or None if another commit came first."""
        if snapshot.number < 0:
            self.create()
            snapshot = Snapshot(0, {})
        table = delta.open_table(self.place)
        if table is None or table.version() != snapshot.number:
            return None
        keeps = snapshot.keeps_runs(entry)
        added = {batch.name: self._write_batch(batch) for batch in entry.add}
        entry = Commit([msgspec.structs.replace(b, record=added[b.name][0]) for b in entry.add], entry.remove)
        then = snapshot.after(entry)
        names = {*added, *entry.remove}
        if keeps:
            self.sync(then, names, moved=bool(entry.remove))
        done = delta.commit_files(
            table,
            dict(added.values()),
            [snapshot.batches[name].record for name in entry.remove],
            data_change=not (keeps and entry.remove),
            note={_BROUGHT: [] if entry.remove else [run for batch in entry.add for run in batch.runs]},
        )
        if not done:
            for name, _ in added.values():
                (self.place / name).remove()
            self.sync(self.read(snapshot), names)
            return None
        delta.sync_log(self.place, then.number)
        if not keeps:
            self.sync(then, names)
        return then

    def commit(self, change: Callable[[Snapshot], Commit | None], known: Snapshot | None = None) -> Snapshot:
        """Commit the result of `change` for the current snapshot; return the new snapshot.

        After a concurrent commit, `change` is called again. Nothing is committed if it returns None.
        """
        snapshot = self.read(known)
        while (entry := change(snapshot)) is not None:
            then = self.append(snapshot, entry)
            if then is not None:
                return then
            snapshot = self.read(snapshot)
        return snapshot

    def length(self) -> int:
        """Return the number of commits; they are numbered from 0, which creates the table."""
        table = delta.open_table(self.place)
        return 0 if table is None else int(table.version()) + 1

    def brought(self, first: int, end: int) -> dict[int, list[str]]:
        """Return the runs that the commits from `first` to before `end` added, by commit."""
        table = delta.open_table(self.place)
        if table is None or first >= end:
            return {}
        history = table.history(int(table.version()) + 1 - first)
        return {
            each["version"]: list(each.get(_BROUGHT, ()))
            for each in sorted(history, key=lambda each: each["version"])
            if first <= each["version"] < end
        }

    def sync(
        self,
        snapshot: Snapshot,
        names: Collection[str] | None = None,
        *,
        moved: bool = False,
        grace: float = 0.0,
    ) -> None:
        """Make the tables of facts contain exactly the files of `snapshot`.

        With `names`, only files of these batches are added or removed. `moved` marks the change as a
        rearrangement of the same rows. Files committed less than `grace` ago [s] are not removed.
        """
        batches = snapshot.batches.values()
        if names is not None:
            batches = [snapshot.batches[name] for name in names if name in snapshot.batches]  # type: ignore[assignment]
        work = partial(self._sync_table, batches=list(batches), names=names, moved=moved, grace=grace)
        self.facts.each(work, TABLES)

    def _sync_table(
        self, table: str, *, batches: list[Batch], names: Collection[str] | None, moved: bool, grace: float
    ) -> None:
        from time import time

        wanted = {f"{batch.name}.parquet": batch.files[table] for batch in batches if table in batch.files}
        for _ in range(_ATTEMPTS):
            opened = delta.open_table(self.facts / table)
            if opened is None:
                self._create(table, TABLES[table])
                continue
            found = delta.list_files(opened)
            add = {name: file for name, file in wanted.items() if name not in found}
            before = (time() - grace) * 1000
            remove = [
                name
                for name, since in found.items()
                if name not in wanted
                and (names is None or name.removesuffix(".parquet") in names)
                and since <= before
            ]
            if not add and not remove:
                return
            if delta.commit_files(opened, add, remove, data_change=not moved):
                return
        raise LakeError(f"{self.facts / table}: too many concurrent commits; run the command again")

    def _write_batch(self, batch: Batch) -> tuple[str, TableFile]:
        """Write the file of `runs` for a batch; return its name and description."""
        order = sorted(batch.runs, key=lambda run: sort_key(run, batch.runs[run].cell))
        rows = [{"run": run} | msgspec.structs.asdict(batch.runs[run]) for run in order]
        table = pa.Table.from_pylist(rows, RUNS.with_metadata({_FILES: msgspec.json.encode(batch.files)}))
        sink = pa.BufferOutputStream()
        metadata: list[pq.FileMetaData] = []
        with pq.ParquetWriter(
            sink, table.schema, compression="zstd", write_page_checksum=True, metadata_collector=metadata
        ) as writer:
            writer.write_table(table)
        content = sink.getvalue().to_pybytes()
        digest = _digest(content)
        name = f"{batch.name}-{digest}.parquet"
        self.place.make_folder()
        (self.place / name).write(content)
        return name, TableFile(len(content), len(rows), digest, stats=delta.statistics(metadata[0], RUNS))

    def _read_batch(self, name: str) -> Batch:
        """Return the batch in a file of `runs`, or raise FileNotFoundError or `LakeError`."""
        place = self.place / name
        content = place.read()
        if _digest(content) != name.removesuffix(".parquet").rpartition("-")[2]:
            raise LakeError(f"{place}: does not match its digest; {_ADVICE}")
        # `read_table` would start threads, which keep 25 MB; rows as dictionaries take twice the memory.
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        files = msgspec.json.decode((table.schema.metadata or {})[_FILES], type=dict[str, TableFile])
        return Batch(_batch_name(name), _committed_runs(table), files, name)


_ADVICE = "restore it, or remove the campaign folder and run the campaign again"


def _committed_runs(table: pa.Table) -> dict[str, CommittedRun]:
    """Return the runs in the rows of a file of `runs`; equal strings are one object."""
    names = [name for name in table.column_names if name in CommittedRun.__struct_fields__]
    columns = [
        [intern(value) if isinstance(value, str) else value for value in table[name].to_pylist()]
        for name in names
    ]
    rows = zip(table["run"].to_pylist(), zip(*columns, strict=True), strict=True)
    return {run: CommittedRun(**dict(zip(names, values, strict=True))) for run, values in rows}


def _without_duplicates(snapshot: Snapshot) -> Snapshot:
    known: set[str] = set()
    for batch in snapshot.batches.values():
        if twice := known & batch.runs.keys():
            raise LakeError(f"the table {RUNS_TABLE} has the run {min(twice)} twice; {_ADVICE}")
        known |= batch.runs.keys()
    return snapshot


def _batch_name(file: str) -> str:
    return file.removesuffix(".parquet").rpartition("-")[0]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
