"""Compare the facts of two runs: differences of run.json, and the first differing row of each table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import CODE_DEPENDENT_KEYS, Facts

ABSENT = "absent"
"Value reported for a key that one of the two runs does not have."


COUNTED = ("frames", "drops")
"The keys of run.json that hold counts."


class ValueDifference(msgspec.Struct, frozen=True):
    """A key of run.json that differs between two runs."""

    key: str
    "The path of the key in run.json, with dots."
    ours: Any
    theirs: Any


class FirstDifference(msgspec.Struct, frozen=True):
    """The first row of a table in which two runs differ."""

    table: str
    row: int
    "The number of the row, from 0."
    ours: dict[str, Any] | None
    "The row by column; None if the table has no such row."
    theirs: dict[str, Any] | None
    columns: list[str]
    "The columns in which the rows differ; all columns if one of the rows is missing."
    rows: tuple[int, int]
    "The number of rows of the two tables."

    @property
    def time(self) -> float:
        """Return the earlier time of the two rows [s]; nan if the table has no time."""
        times = [row["time"] for row in (self.ours, self.theirs) if row is not None and "time" in row]
        return min(times, default=float("nan"))


class RunDifference(msgspec.Struct, frozen=True):
    """The differences of two runs."""

    run: list[ValueDifference]
    "Differences of scenario, protocol, parameters and seed."
    counts: list[ValueDifference]
    "Differences of the counts of frames and drops."
    code: list[ValueDifference]
    "Differences of keys that depend on the code; runs that differ only in these are equal."
    tables: list[FirstDifference]
    "The first difference of each table that differs, in order of time."

    @property
    def equal(self) -> bool:
        """Return whether both runs have the same facts."""
        return not (self.run or self.counts or self.tables)


def compare(ours: Facts, theirs: Facts) -> RunDifference:
    """Return the differences of the facts of two runs."""
    run: list[ValueDifference] = []
    counts: list[ValueDifference] = []
    code: list[ValueDifference] = []
    for change in _changes(msgspec.to_builtins(ours.run), msgspec.to_builtins(theirs.run)):
        part = change.key.partition(".")[0]
        (code if part in CODE_DEPENDENT_KEYS else counts if part in COUNTED else run).append(change)
    partings = [found for name in TABLES if (found := _part(name, ours[name], theirs[name])) is not None]
    # nan does not sort; the first element of the key puts tables without time last.
    partings.sort(key=lambda found: (found.time != found.time, found.time))
    if run or counts or partings:  # then a different number of kernel events is not due to the code
        counts += [change for change in code if change.key == "events_processed"]
        code = [change for change in code if change.key != "events_processed"]
    return RunDifference(run, counts, code, partings)


def _changes(ours: Any, theirs: Any, key: str = "") -> Iterator[ValueDifference]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in [*ours, *(name for name in theirs if name not in ours)]:
            yield from _changes(ours.get(name, ABSENT), theirs.get(name, ABSENT), f"{key}.{name}".lstrip("."))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _changes(one, other, f"{key}[{place}]")
    elif ours != theirs:
        yield ValueDifference(key, ours, theirs)


def _part(name: str, ours: pa.Table, theirs: pa.Table) -> FirstDifference | None:
    common = min(len(ours), len(theirs))
    first = common
    for column in ours.column_names:
        differs = _differs(ours[column].slice(0, first), theirs[column].slice(0, first))
        if differs.any():
            first = int(differs.argmax())
    if first == len(ours) == len(theirs):
        return None
    rows = [_row(table, first) for table in (ours, theirs)]
    columns = ours.column_names
    if first < common:
        columns = [
            column
            for column in columns
            if _differs(ours[column].slice(first, 1), theirs[column].slice(first, 1)).any()
        ]
    return FirstDifference(name, first, rows[0], rows[1], columns, (len(ours), len(theirs)))


def _differs(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Return for each row whether the values differ; nan equals nan."""
    one, other = _values(ours), _values(theirs)
    differs: npt.NDArray[np.bool_] = np.asarray(one != other)
    if one.dtype.kind == "f":
        differs &= ~(np.isnan(one) & np.isnan(other))
    return differs


def _values(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())


def _row(table: pa.Table, place: int) -> dict[str, Any] | None:
    if place >= len(table):
        return None
    row: dict[str, Any] = table.slice(place, 1).to_pylist()[0]
    return row


def describe(difference: RunDifference, ours: str, theirs: str) -> list[str]:
    """Return the lines that describe a difference; `ours` and `theirs` are the labels of the runs."""
    lines = []
    for head, changes in (
        ("the configuration differs", difference.run),
        ("the counts differ", difference.counts),
        ("the code differs", difference.code),
    ):
        if changes:
            width = max(len(change.key) for change in changes)
            lines.append(f"{head}:")
            lines += [f"  {each.key:<{width}}  {each.ours!r} / {each.theirs!r}" for each in changes]
    width = max(len(ours), len(theirs)) + 1
    for parting in difference.tables:
        counts = " and ".join(f"{count:,}" for count in parting.rows)
        lines.append(f"{parting.table}: row {parting.row:,} is the first that differs, of {counts}")
        for name, row in ((ours, parting.ours), (theirs, parting.theirs)):
            text = "no such row" if row is None else _format_row(row)
            lines.append(f"  {name + ':':<{width}} {text}")
        if parting.ours is not None and parting.theirs is not None:
            lines.append(f"  {'in:':<{width}} {', '.join(parting.columns)}")
    return lines


def _format_row(row: dict[str, Any]) -> str:
    return "  ".join(f"{name}={value!r}" for name, value in row.items())
