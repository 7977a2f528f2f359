"""Where two runs part: the first differing row of each table of facts, and what differs in what was run."""

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
"Stands for a key that one of two runs does not have."


COUNTED = ("frames", "drops")
"What of a run is counted while it is played."


class ValueDifference(msgspec.Struct, frozen=True):
    """Something about a run that another run has otherwise."""

    key: str
    "Its place in run.json, with dots."
    ours: Any
    theirs: Any


class FirstDifference(msgspec.Struct, frozen=True):
    """The first row of a table in which two runs differ."""

    table: str
    row: int
    "Counted from 0."
    ours: dict[str, Any] | None
    "None where the table has ended."
    theirs: dict[str, Any] | None
    columns: list[str]
    "In which the rows differ; all, where one of them is missing."
    rows: tuple[int, int]
    "How many rows the tables have."

    @property
    def time(self) -> float:
        """When it happened: the earlier of the two rows; nan where rows hold no time."""
        times = [row["time"] for row in (self.ours, self.theirs) if row is not None and "time" in row]
        return min(times, default=float("nan"))


class RunDifference(msgspec.Struct, frozen=True):
    """All that tells two runs apart; see `equal`."""

    run: list[ValueDifference]
    "In what was run."
    counts: list[ValueDifference]
    "In the whole run's counts, of frames and of what routers let go."
    code: list[ValueDifference]
    "What tells of the code and not of what happened; two runs may differ in it and be equal."
    tables: list[FirstDifference]
    "The table that parts first in time comes first."

    @property
    def equal(self) -> bool:
        """Whether the same happened in both runs."""
        return not (self.run or self.counts or self.tables)


def compare(ours: Facts, theirs: Facts) -> RunDifference:
    """Compare the facts of two runs, row by row."""
    run: list[ValueDifference] = []
    counts: list[ValueDifference] = []
    code: list[ValueDifference] = []
    for change in _changes(msgspec.to_builtins(ours.run), msgspec.to_builtins(theirs.run)):
        part = change.key.partition(".")[0]
        (code if part in CODE_DEPENDENT_KEYS else counts if part in COUNTED else run).append(change)
    partings = [found for name in TABLES if (found := _part(name, ours[name], theirs[name])) is not None]
    # A nan is smaller than nothing: tables without time come last.
    partings.sort(key=lambda found: (found.time != found.time, found.time))
    if run or counts or partings:  # then the number of kernel events says nothing of the code
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
    """Cell by cell; a nan equals a nan."""
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
    """A difference in words, a line each; `ours` and `theirs` are what to call the runs."""
    lines = []
    for head, changes in (
        ("what was run differs", difference.run),
        ("what was counted differs", difference.counts),
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
            told = "no such row" if row is None else _tell(row)
            lines.append(f"  {name + ':':<{width}} {told}")
        if parting.ours is not None and parting.theirs is not None:
            lines.append(f"  {'in:':<{width}} {', '.join(parting.columns)}")
    return lines


def _tell(row: dict[str, Any]) -> str:
    return "  ".join(f"{name}={value!r}" for name, value in row.items())
