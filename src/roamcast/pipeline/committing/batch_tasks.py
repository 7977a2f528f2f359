"""The tasks of a commit: division of runs into batches and of tables into tasks."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from roamcast.lake.batch import DamagedRows, join_batches
from roamcast.lake.cells import UNKNOWN, RunCell, sort_key
from roamcast.lake.columns import TABLES
from roamcast.lake.snapshot import Batch, TableFile
from roamcast.lake.staged_rows import join_staged, read_packs
from roamcast.lake.staging import Staging
from roamcast.lake.storage import StorageUrl

MOST_RUNS = 512
"Maximum number of runs in a batch."

MOST_BYTES = 256_000_000
"Maximum staged size of a batch with several runs [B]."

_ALONE = 32_000_000
"Size of a batch from which the long tables are tasks of their own [B]."


class BatchTask(NamedTuple):
    """A task that writes some tables of a new batch from staged runs or from other batches."""

    name: str
    tables: tuple[str, ...]
    staged: dict[str, dict[str, Any]]
    batches: tuple[Batch, ...] = ()
    drop: frozenset[str] = frozenset()
    cells: Mapping[str, RunCell] = MappingProxyType({})
    "The cells of the runs that are written."


class BatchTaskResult(NamedTuple):
    """The files that a task wrote, or the reason why it did not."""

    files: dict[str, TableFile]
    damaged: dict[str, str]
    full: str = ""
    "Error message of a full disk; empty if it is not full."


def write_batch_tables(staged: str, facts: str, task: BatchTask) -> BatchTaskResult:
    """Write the tables of a task; return their files, or the damaged runs."""
    files: dict[str, TableFile] = {}
    staging, lake = Staging(staged), StorageUrl(facts)
    packs, damaged = read_packs(staging, task.staged)
    if damaged:
        return BatchTaskResult({}, damaged)
    for table in task.tables:
        try:
            if task.batches:
                file = join_batches(lake, table, task.name, task.batches, drop=task.drop, cells=task.cells)
            else:
                file = join_staged(
                    staging, lake, table, task.name, task.staged, packs=packs, cells=task.cells
                )
        except DamagedRows as found:
            damaged |= found.runs
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return BatchTaskResult({}, {}, str(error))
        else:
            if file is not None:
                files[table] = file
    return BatchTaskResult(files, damaged)


def split_batches(
    staged: Mapping[str, Mapping[str, Any]], cells: Mapping[str, RunCell] = MappingProxyType({})
) -> list[list[str]]:
    """Divide staged runs into batches, sorted by their cells."""
    batches: list[list[str]] = []
    size = 0
    for run in sorted(staged, key=lambda run: sort_key(run, cells.get(run, UNKNOWN))):
        mine = sum(file["size"] for file in staged[run]["files"].values())
        if not batches or len(batches[-1]) == MOST_RUNS or size + mine > MOST_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(run)
        size += mine
    return batches


def spread_runs(runs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the tables of a batch of staged runs, by task."""
    return spread_tables(sum(file["size"] for files in runs.values() for file in files.values()))


def spread_tables(size: int) -> list[tuple[str, ...]]:
    """Return the tables of a batch of `size` [B] by task: long tables of a large batch are separate."""
    if size < _ALONE:
        return [tuple(TABLES)]
    alone = ("transmissions", "drops")
    return [*((table,) for table in alone), tuple(name for name in TABLES if name not in alone)]
