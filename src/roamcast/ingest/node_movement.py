"""The movement of the nodes in an ns-2 run, from its movement file or from its trace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.ingest.readers.ns2trace import TraceRecord
from roamcast.scenario.model import Area
from roamcast.scenario.traces.movement import Legs, join_legs, read_ns2

_ANYWHERE = Area(width=1e8, height=1e8)


def read_moves(path: str, nodes: int) -> Legs:
    """Return the movement of a run from its movement file."""
    return read_ns2(Path(path), nodes, _ANYWHERE, "the trace has")


def find_moves(records: Iterable[TraceRecord], nodes: int) -> Legs | None:
    """Return the movement by positions (new format) and movement lines; None if a node has no position."""
    places: list[dict[str, float]] = [{} for _ in range(nodes)]
    moves: list[list[tuple[float, float, float, float]]] = [[] for _ in range(nodes)]
    for record in records:
        if record.x is None or record.y is None or record.node < 0:
            continue
        places[record.node].setdefault("X", record.x)
        places[record.node].setdefault("Y", record.y)
        if record.to_x is not None and record.to_y is not None and record.speed is not None:
            moves[record.node].append((record.time, record.to_x, record.to_y, max(record.speed, 0.0)))
    if not all(places):
        return None
    return join_legs(places, moves)


def trace_legs(legs: Legs, duration: float) -> pa.Table:
    """Return movement as the table `legs`; a pause fills the time between two movements."""
    following = np.append(legs.time[1:], duration)
    following[np.append(legs.node[1:] != legs.node[:-1], True)] = duration
    following = np.minimum(following, duration)
    rows = []
    for node, begins, x0, y0, x1, y1, speed, ends in zip(
        *(column.tolist() for column in (*legs, following)), strict=True
    ):
        if ends <= begins:
            continue
        length = float(np.hypot(x1 - x0, y1 - y0))
        arrives = begins + length / speed if speed > 0 else begins if length == 0 else float("inf")
        if arrives >= ends:
            share = (ends - begins) * speed / length if length and speed > 0 else 0.0
            rows.append((node, begins, ends, x0, y0, x0 + (x1 - x0) * share, y0 + (y1 - y0) * share))
        else:
            if arrives > begins:
                rows.append((node, begins, arrives, x0, y0, x1, y1))
            rows.append((node, arrives, ends, x1, y1, x1, y1))
    columns = zip(*rows, strict=True) if rows else [()] * 7
    schema = TABLES["legs"]
    arrays = [pa.array(column, field.type) for field, column in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
