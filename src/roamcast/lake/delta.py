"""Delta tables: creation, opening and commits by the library `deltalake` (delta-rs), without a JVM."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.lake.columns import comment, plain_schema
from roamcast.lake.snapshot import LakeError, TableFile
from roamcast.lake.storage import StorageUrl, delta_options

if TYPE_CHECKING:
    from deltalake import DeltaTable

FORMAT = "3"
"""Version of the lake's format. Format 2 had no cells of runs, no index of runs and another order of rows;
format 1 had a commit log of its own."""

READABLE = ("2", FORMAT)
"Formats that can be read; only `FORMAT` is written."

DELTA_LOG = "_delta_log"
_FORMAT_KEY = "roamcast.format"
_LONGEST_STATISTIC = 64
"Length of strings in statistics; columns with longer extreme values have none."

_SETTINGS = {_FORMAT_KEY: FORMAT, "delta.enableExpiredLogCleanup": "false"}
"Log entries are kept, because they replace a damaged checkpoint."


_users: set[int] = set()
"Processes that have used delta-rs: this one, and the ones that it was forked from."


def create_table(place: StorageUrl, schema: pa.Schema) -> None:
    """Create an empty Delta table; add the columns that an existing table lacks."""
    from deltalake import DeltaTable, Schema

    place.make_folder()
    known = open_table(place)
    fields = [
        field.with_metadata({"comment": comment(field)} if comment(field) else None)
        for field in plain_schema(schema)
    ]
    wanted = Schema.from_arrow(pa.schema(fields))
    if known is None:
        DeltaTable.create(
            str(place),
            wanted,
            mode="ignore",
            configuration=_SETTINGS,
            storage_options=delta_options(place.scheme),
            raise_if_key_not_exists=False,
        )
        return
    columns = {field.name for field in known.schema().fields}
    if added := [field for field in wanted.fields if field.name not in columns]:
        known.alter.add_columns(added)


def open_table(place: StorageUrl) -> DeltaTable | None:
    """Return the Delta table in a folder, or None; raise `LakeError` if it cannot be read.

    A damaged checkpoint is removed: the log entries that it summarises are still there.
    """
    from deltalake.exceptions import TableNotFoundError

    try:
        try:
            table = _load(place)
        except TableNotFoundError:
            return None
        except Exception:
            if not _remove_checkpoints(place):
                raise
            table = _load(place)
    except Exception as error:
        what = " ".join(str(error).split())[:200]
        raise LakeError(
            f"{place / DELTA_LOG}: cannot be read ({what}); without it the valid facts are unknown: restore "
            "it, or remove the campaign folder and run the campaign again"
        ) from None
    found = find_format(table)
    if found not in READABLE:
        raise LakeError(
            f"{place}: has the lake format {found or 'of another program'}, this version reads formats "
            f"{' and '.join(READABLE)}; run the campaign into another folder"
        )
    return table


def find_format(table: DeltaTable) -> str:
    """Return the version of the lake's format that a table was written with; empty if it has none."""
    return str(table.metadata().configuration.get(_FORMAT_KEY, ""))


def set_format(table: DeltaTable) -> None:
    """Declare that a table has the present format."""
    table.alter.set_table_properties({_FORMAT_KEY: FORMAT}, raise_if_not_exists=False)


def is_forked() -> bool:
    """Return whether this process was forked from one that used delta-rs, which cannot be used here."""
    return bool(_users) and os.getpid() not in _users


def _load(place: StorageUrl) -> DeltaTable:
    from deltalake import DeltaTable

    _users.add(os.getpid())
    return DeltaTable(str(place), storage_options=delta_options(place.scheme))


def _remove_checkpoints(place: StorageUrl) -> bool:
    """Remove the checkpoints of a table if all log entries are there; return whether there were any."""
    log = place / DELTA_LOG
    names = log.list()
    checkpoints = [name for name in names if "checkpoint" in name]
    if f"{0:020}.json" not in names:
        return False
    for name in checkpoints:
        with suppress(OSError):
            (log / name).remove()
    return bool(checkpoints)


def list_files(table: DeltaTable) -> dict[str, int]:
    """Return the names of a table's files, each with the time of its commit [ms since 1970]."""
    actions = pa.table(table.get_add_actions(flatten=True))
    return dict(zip(actions["path"].to_pylist(), actions["modification_time"].to_pylist(), strict=True))


def commit_files(
    table: DeltaTable,
    add: Mapping[str, TableFile],
    remove: Collection[str],
    *,
    data_change: bool = True,
    note: Mapping[str, Any] | None = None,
) -> bool:
    """Add and remove files in one commit after the version that `table` has read.

    Return False if another commit came first. Raise OSError if the store fails.
    """
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import AddAction, CommitProperties, RemoveAction

    now = int(time() * 1000)
    actions: list[AddAction | RemoveAction] = [
        AddAction(name, file.size, {}, now, data_change, file.stats) for name, file in add.items()
    ]
    actions += [RemoveAction(name, data_change, now) for name in remove]
    properties = CommitProperties(custom_metadata=dict(note or {}), max_commit_retries=0)
    try:
        table.create_write_transaction(actions, "append", table.schema(), commit_properties=properties)
    except CommitFailedError:
        return False
    except DeltaError as error:
        raise OSError(str(error)) from None
    return True


def sync_log(place: StorageUrl, version: int) -> None:
    """Flush a commit of a local table to the disk, so that it survives a power failure."""
    if place.local is None:
        return
    for path in (place.local / DELTA_LOG / f"{version:020}.json", place.local / DELTA_LOG):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_drafts(place: StorageUrl) -> None:
    """Remove the temporary files of interrupted commits from the log of a local table."""
    if place.local is not None:
        for pattern in ("*.tmp", "*#*"):
            for left in (place.local / DELTA_LOG).glob(pattern):
                left.unlink(missing_ok=True)


def statistics(metadata: pq.FileMetaData, schema: pa.Schema, unordered: Collection[str] = ()) -> str:
    """Return a Parquet file's statistics as JSON of a Delta log: rows, extreme values and nulls by column.

    Columns in `unordered` have no extreme values.
    """
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place, name in enumerate(schema.names):
        found = [
            metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)
        ]
        if all(each is not None and each.has_null_count for each in found):
            nulls[name] = sum(each.null_count for each in found)
        ranges = [(each.min, each.max) for each in found if each is not None and each.has_min_max]
        if (
            name not in unordered
            and len(ranges) == len(found)
            and ranges
            and all(_is_short(value) for pair in ranges for value in pair)
        ):
            least[name] = min(low for low, _ in ranges)
            greatest[name] = max(high for _, high in ranges)
    statistics = {
        "numRecords": metadata.num_rows,
        "minValues": least,
        "maxValues": greatest,
        "nullCount": nulls,
    }
    return json.dumps(statistics, separators=(",", ":"))


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_STATISTIC
    return not isinstance(value, float) or math.isfinite(value)
