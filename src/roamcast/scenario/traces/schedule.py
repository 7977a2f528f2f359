"""Schedules: publications listed in a CSV file, one per line, in order of time.

The first line names the columns: `time` [s], `publisher` (node), `size` [B]; optionally `type` and any
attributes of the event. An empty cell omits its attribute.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

from roamcast.content.errors import ContentError
from roamcast.content.schema import EventType
from roamcast.errors import UserError
from roamcast.routing.router import NodeId
from roamcast.units import parse_finite

REQUIRED = ("time", "publisher", "size")
DEFAULT_TYPE = "event"


class ScheduleError(UserError):
    """An invalid schedule."""


class ScheduledPublication(NamedTuple):
    """One line of a schedule."""

    time: float
    publisher: NodeId
    size: int
    type: str
    cells: dict[str, str]
    "The attributes of the event as text, without empty cells."
    line: int


def read_schedule(path: Path, nodes: int, duration: float) -> list[ScheduledPublication]:
    """Return the publications in a file, for a run of `duration` [s] with `nodes` nodes."""
    rows: list[ScheduledPublication] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = [name.strip() for name in next(lines, [])]
            _check_header(path, header)
            for cells in lines:
                if not cells:
                    continue
                try:
                    row = _read_row(header, cells, nodes, duration, lines.line_num)
                    if rows and row.time < rows[-1].time:
                        raise ScheduleError(f"not sorted: {row.time:g} s comes after {rows[-1].time:g} s")
                except ScheduleError as error:
                    raise ScheduleError(f"{path}:{lines.line_num}: {error}") from None
                rows.append(row)
    except (OSError, UnicodeDecodeError) as error:
        raise ScheduleError(f"{path}: cannot be read: {error}") from None
    except csv.Error as error:
        raise ScheduleError(f"{path}:{lines.line_num}: not valid CSV: {error}") from None
    return rows


def _check_header(path: Path, header: list[str]) -> None:
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise ScheduleError(
            f"{path}:1: no column {missing[0]!r}; the first line must name {', '.join(REQUIRED)}"
        )
    if len(set(header)) < len(header) or "" in header:
        raise ScheduleError(f"{path}:1: duplicate column names")


def _read_row(
    header: list[str], cells: list[str], nodes: int, duration: float, line: int
) -> ScheduledPublication:
    if len(cells) != len(header):
        raise ScheduleError(f"{len(cells)} cells under {len(header)} columns")
    row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
    time = parse_finite(row.pop("time"), "time:", error=ScheduleError)
    publisher = _integer(row.pop("publisher"), "publisher")
    size = _integer(row.pop("size"), "size")
    if not 0 <= time < duration:
        raise ScheduleError(f"time: {time:g} s is outside the run of {duration:g} s")
    if not 0 <= publisher < nodes:
        raise ScheduleError(f"publisher: node {publisher} is outside the range 0 to {nodes - 1}")
    if not 0 < size < 2**16:
        raise ScheduleError(f"size: {size} bytes; expected 1 to 65535")
    kind = row.pop("type", "") or DEFAULT_TYPE
    return ScheduledPublication(
        time, publisher, size, kind, {name: text for name, text in row.items() if text}, line
    )


def _integer(text: str, column: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ScheduleError(f"{column}: {text!r} is not a number") from None


def read_cells(row: ScheduledPublication, declared: EventType | None) -> dict[str, Any]:
    """Return the attributes of a row, parsed by its `declared` type or, if None, by their appearance."""
    values: dict[str, Any] = {}
    for name, text in row.cells.items():
        if declared is None:
            values[name] = _plainest(text)
            continue
        kind = declared.fields[declared.index(name)].kind
        try:
            values[name] = kind.load(kind.read(text))
        except ContentError as error:
            raise ContentError(f"{declared.name}/{name}: {error}") from None
    return values


def _plainest(text: str) -> Any:
    """Return a cell as a boolean or a number if it looks like one, otherwise as text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text
