"""What the tasks of a commit do: which runs go into a batch, and which task writes which of its tables."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any, NamedTuple

from roamcast.lake.batch import DamagedRows, join_batches
from roamcast.lake.columns import TABLES
from roamcast.lake.log import Batch, TableFile
from roamcast.lake.staged_rows import join_staged, read_packs
from roamcast.lake.staging import Staging
from roamcast.lake.storage import StorageUrl

MOST_RUNS = 512
"Of a batch."

MOST_BYTES = 256_000_000
"Staged, of a batch of more than one run."

_ALONE = 32_000_000
"Bytes of a batch from which each table is a task of its own."


class BatchTask(NamedTuple):
    """What one task of a commit does: some tables of a new batch, of staged runs or of other batches."""

    name: str
    tables: tuple[str, ...]
    staged: dict[str, dict[str, Any]]
    batches: tuple[Batch, ...] = ()
    drop: frozenset[str] = frozenset()


class BatchTaskResult(NamedTuple):
    """What became of it."""

    files: dict[str, TableFile]
    damaged: dict[str, str]
    full: str = ""
    "Of the disk: what it said."


def write_batch_tables(staged: str, facts: str, asked: BatchTask) -> BatchTaskResult:
    """Write the tables that are asked for."""
    files: dict[str, TableFile] = {}
    staging, lake = Staging(staged), StorageUrl(facts)
    packs, damaged = read_packs(staging, asked.staged)
    if damaged:
        return BatchTaskResult({}, damaged)
    for table in asked.tables:
        try:
            if asked.batches:
                file = join_batches(lake, table, asked.name, asked.batches, asked.drop)
            else:
                file = join_staged(staging, lake, table, asked.name, asked.staged, packs=packs)
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


def split_batches(staged: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Staged runs in batches, in the order of runs."""
    batches: list[list[str]] = []
    size = 0
    for run in sorted(staged):
        mine = sum(file["size"] for file in staged[run]["files"].values())
        if not batches or len(batches[-1]) == MOST_RUNS or size + mine > MOST_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(run)
        size += mine
    return batches


def spread_runs(runs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The tables of a batch of staged runs by task."""
    return spread_tables(sum(file["size"] for files in runs.values() for file in files.values()))


def spread_tables(size: int) -> list[tuple[str, ...]]:
    """The tables of a batch by task: together if they are small, else the long ones alone."""
    if size < _ALONE:
        return [tuple(TABLES)]
    alone = ("transmissions", "drops")
    return [*((table,) for table in alone), tuple(name for name in TABLES if name not in alone)]
