"""Facts of live nodes: segments of several nodes, joined to the tables of one run.

A node writes a small Parquet file for each table now and then (`roamcast.live.recording`), with its own id
and its own clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import from_rows
from roamcast.routing.router import NodeId


def read_segments(folder: Path, table: str, numbers: Mapping[NodeId, int], since: float = 0.0) -> pa.Table:
    """Return the rows of all nodes, sorted by time, with scenario numbers instead of ids.

    Segments that were written before `since` (Unix time) are left out.
    """
    files = sorted(
        file for file in (folder / table).glob("*.parquet") if not since or file.stat().st_mtime >= since
    )
    schema = TABLES[table]
    rows = [pq.read_table(file).cast(schema) for file in files]
    whole = pa.concat_tables(rows).unify_dictionaries().combine_chunks() if rows else schema.empty_table()
    whole = renumber(whole, numbers)
    return whole.take(pc.sort_indices(whole["time"])) if "time" in schema.names else whole


def renumber(rows: pa.Table, numbers: Mapping[NodeId, int]) -> pa.Table:
    """Return a table with scenario numbers instead of live ids."""
    ids = np.array(sorted(numbers), np.int64)
    new = np.array([numbers[id] for id in sorted(numbers)], np.int64)

    def number(column: Any) -> Any:
        place = np.minimum(np.searchsorted(ids, column), len(ids) - 1)
        return np.where(ids[place] == column, new[place], -1)

    for index, field in enumerate(rows.schema):
        if field.name in ("node", "publisher", "peer", "to"):
            column = number(rows[field.name].to_numpy().astype(np.int64))
        elif field.name == "publication":
            old = rows[field.name].to_numpy()
            column = np.where(old < 0, -1, number(old >> 32) << 32 | old & 0xFFFFFFFF)
        else:
            continue
        rows = rows.set_column(index, field, pa.array(column).cast(field.type))
    return rows


def expect(publications: pa.Table, interests: pa.Table, types: Mapping[str, EventType]) -> pa.Table:
    """Return the expectations: for each publication the nodes whose interests matched at its time."""
    held: dict[NodeId, Counter[Filter]] = {}
    filters: dict[str, Filter] = {}
    changes = list(zip(*(interests[name].to_pylist() for name in interests.column_names), strict=True))
    rows: list[tuple[int, int]] = []
    place = 0
    for id, time, publisher, event in zip(
        *(publications[name].to_pylist() for name in ("publication", "time", "publisher", "event")),
        strict=True,
    ):
        while place < len(changes) and changes[place][0] <= time:
            _, node, text, begins = changes[place]
            filter = filters.setdefault(text, Filter.parse(text, types))
            held.setdefault(node, Counter())[filter] += 1 if begins else -1
            place += 1
        content = Event.from_json(event, types)
        rows += [
            (id, node)
            for node, own in sorted(held.items())
            if node != publisher and any(count > 0 and each.matches(content) for each, count in own.items())
        ]
    return from_rows("expectations", rows)
