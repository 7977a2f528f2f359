"""Joining staged runs: the rows of many, each seen to be what its manifest says, as a table of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from roamcast.facts.pack import PACK, FactsPack, unpack
from roamcast.lake.batch import DamagedRows, Piece, open_table, tag_rows, write_pieces
from roamcast.lake.log import TableFile
from roamcast.lake.staging import Staging, digest_open
from roamcast.lake.storage import StorageUrl


def read_packs(
    staging: Staging, runs: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, FactsPack], dict[str, str]]:
    """The packs of those of the staged `runs` that have one, and what is wrong with damaged ones."""
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
) -> TableFile | None:
    """Write the table of batch `name` from the staged `runs` (with their files as manifests tell them).

    What is in `packs` is taken from there. Raises `Damaged` if a staged file is not what its manifest says;
    None if there are no rows.
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
    filled = [run for run in sorted(runs) if runs[run].get(file, {}).get("rows") != 0]  # many are empty
    return write_pieces(facts, table, name, _staged(staging, table, filled, packs))


def find_damage(folder: StorageUrl, name: str, files: Mapping[str, Any]) -> str:
    """What is wrong with a staged file; empty if nothing is, or if the run has none of that name."""
    told = files.get(name)
    if told is None:
        return ""
    try:
        with (folder / name).open() as file:
            size = file.size()
            if size != told["size"]:
                return f"{name} has {size} bytes, not {told['size']}"
            return "" if digest_open(file) == told["digest"] else f"{name} is not what was written"
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
            if found is not None:
                yield run, tag_rows(run, table, found)
            continue
        file = staging.run_folder(run) / _staged_name(table)
        if table == "about":
            with suppress(FileNotFoundError):
                yield run, tag_rows(run, table, pa.table({"told": [file.read().decode()]}))
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
                    yield run, tag_rows(run, table, rows)
