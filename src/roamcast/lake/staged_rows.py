"""Merging of staged runs into a table of a batch, after a check of the staged files against manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from roamcast.facts.pack import PACK, FactsPack, unpack
from roamcast.lake.batch import DamagedRows, Piece, open_table, write_pieces
from roamcast.lake.cells import UNKNOWN, RunCell, sort_key
from roamcast.lake.columns import conform, fact_columns
from roamcast.lake.snapshot import TableFile
from roamcast.lake.staging import Staging, digest_open
from roamcast.lake.storage import StorageUrl


def read_packs(
    staging: Staging, runs: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, FactsPack], dict[str, str]]:
    """Return the packs of the staged `runs` that have one, and the problems of damaged packs, by run."""
    packs, wrong = {}, {}
    for run, files in runs.items():
        if PACK in files:
            if what := find_damage(staging.run_folder(run), PACK, files):
                wrong[run] = what
            else:
                packs[run] = unpack((staging.run_folder(run) / PACK).read())
    return packs, wrong


def join_staged(
    staging: Staging,
    facts: StorageUrl,
    table: str,
    name: str,
    runs: Mapping[str, Mapping[str, Any]],
    *,
    packs: Mapping[str, FactsPack] = MappingProxyType({}),
    cells: Mapping[str, RunCell] = MappingProxyType({}),
) -> TableFile | None:
    """Write a table of batch `name` from the staged `runs` (with the files of their manifests).

    Runs in `packs` are read from their packs. Raise `DamagedRows` if a staged file does not match its
    manifest; return None if there are no rows. Rows get the cells in `cells` and are sorted by them.
    """
    wrong = {}
    for run in runs:
        if run in packs:
            continue
        if what := find_damage(staging.run_folder(run), _staged_name(table), runs[run]):
            wrong[run] = what
    if wrong:
        raise DamagedRows(wrong)
    file = f"{table}.parquet"
    ordered = sorted(runs, key=lambda run: sort_key(run, cells.get(run, UNKNOWN)))
    filled = [run for run in ordered if runs[run].get(file, {}).get("rows") != 0]  # many are empty
    return write_pieces(facts, table, name, _staged(staging, table, filled, packs), cells)


def find_damage(folder: StorageUrl, name: str, files: Mapping[str, Any]) -> str:
    """Return the problem of a staged file; empty if it matches or if the manifest does not list it."""
    recorded = files.get(name)
    if recorded is None:
        return ""
    try:
        with (folder / name).open() as file:
            size = file.size()
            if size != recorded["size"]:
                return f"{name} has {size} bytes, not {recorded['size']}"
            return "" if digest_open(file) == recorded["digest"] else f"{name} does not match its digest"
    except FileNotFoundError:
        return f"{name} is gone"


def _staged_name(table: str) -> str:
    return "run.json" if table == "about" else f"{table}.parquet"


def _staged(
    staging: Staging, table: str, runs: Sequence[str], packs: Mapping[str, FactsPack]
) -> Iterator[Piece]:
    for run in runs:
        if run in packs:
            about, tables = packs[run]
            found = pa.table({"told": [about]}) if table == "about" else tables.get(table)
            if found is not None and len(found):
                yield run, conform(found, table, fact_columns(table))
            continue
        file = staging.run_folder(run) / _staged_name(table)
        if table == "about":
            with suppress(FileNotFoundError):
                yield run, pa.table({"told": [file.read().decode()]})
            continue
        try:
            opened = file.open()
        except FileNotFoundError:
            continue
        with opened:
            whole = open_table(opened, table)
            for group in range(whole.num_row_groups):
                rows = whole.read_row_group(group, use_threads=False)
                if len(rows):
                    yield run, conform(rows, table, fact_columns(table))
