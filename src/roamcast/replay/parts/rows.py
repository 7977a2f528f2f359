"""The rows of a table in order of time, read by row groups so that a part of a run needs a part of its file.

Facts are nearly in order: a transmission is recorded when it ends, at the time of its first frame. Rows that
no later row group precedes form a block. A block is read from the one or two row groups that contain it, and
sorted; blocks that were read last are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError
from roamcast.replay.parts.byte_cache import ByteCache

HELD_BYTES = 64_000_000
"Blocks of one table that are kept [B]."

Reals = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class GroupedTables(Protocol):
    """Tables that can be read by row groups."""

    def group_sizes(self, table: str) -> list[int]:
        """Return the number of rows of each row group."""

    def read_group(self, table: str, group: int, columns: Sequence[str]) -> pa.Table:
        """Return the named columns of a row group."""


class HeldTables:
    """Tables in memory, each as one row group."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._tables: dict[str, pa.Table] = {}

    def group_sizes(self, table: str) -> list[int]:
        """Return the number of rows of the table."""
        return [len(self._table(table))]

    def read_group(self, table: str, group: int, columns: Sequence[str]) -> pa.Table:
        """Return the named columns of the table."""
        return self._table(table).select(columns)

    def _table(self, name: str) -> pa.Table:
        if name not in self._tables:
            self._tables[name] = self._facts[name].combine_chunks()
        return self._tables[name]


class EventRows:
    """The rows of a table by event; an event is read from the row groups that have rows of it."""

    def __init__(
        self, source: GroupedTables, table: str, columns: Sequence[str], visit: Callable[[pa.Table], None]
    ) -> None:
        """Read the table once, and call `visit` with `columns` of each row group."""
        self._source, self._table = source, table
        self._columns = TABLES[table].names
        self._sizes = source.group_sizes(table)
        self._events: list[Ids] = []
        "The events of each row group, sorted."
        for group in range(len(self._sizes)):
            rows = source.read_group(table, group, tuple(dict.fromkeys((*columns, "publication"))))
            visit(rows)
            self._note(group, rows)
            self._events.append(np.unique(rows["publication"].to_numpy()))

    def _note(self, group: int, rows: pa.Table) -> None:
        """Keep what a subclass needs to know of a row group."""

    def of_events(self, wanted: Ids, columns: Sequence[str]) -> pa.Table:
        """Return the named columns, `publication` among them, of the rows of some events, in their order."""
        names = tuple(columns)
        parts = [_fields(self._table, names).empty_table()]
        for group, events in enumerate(self._events):
            if np.isin(events, wanted).any():
                rows = self._source.read_group(self._table, group, names)
                parts.append(rows.filter(pa.array(np.isin(rows["publication"].to_numpy(), wanted))))
        return join_rows(parts)

    def scan(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the named columns of each row group."""
        for group in range(len(self._sizes)):
            yield self._source.read_group(self._table, group, tuple(columns))

    def where(self, columns: Sequence[str], select: Callable[[pa.Table], npt.NDArray[np.bool_]]) -> pa.Table:
        """Return the rows that `select` chooses by the named columns, in their order; reads the table."""
        parts = [TABLES[self._table].empty_table()]
        for group, rows in enumerate(self.scan(columns)):
            found = np.flatnonzero(select(rows))
            if len(found):
                parts.append(self._read(group).take(found))
        return join_rows(parts)

    def _read(self, group: int) -> pa.Table:
        return self._source.read_group(self._table, group, self._columns)


class TimedRows(EventRows):
    """The rows of a table by their position in order of time; rows of one time keep their order."""

    def __init__(
        self,
        source: GroupedTables,
        table: str,
        columns: Sequence[str],
        visit: Callable[[pa.Table], None],
        held_bytes: int | None = HELD_BYTES,
    ) -> None:
        """Read the table once, and call `visit` with `columns` of each row group, `time` among them."""
        self._blocks: ByteCache[int, pa.Table] = ByteCache(held_bytes, lambda block: int(block.nbytes))
        self._spans: list[tuple[float, float]] = []
        super().__init__(source, table, columns, visit)
        lows, self._highs = np.array(self._spans).reshape(-1, 2).T
        later = np.minimum.accumulate(np.append(lows, np.inf)[::-1])[::-1]
        self._ends: Reals = later[1:]
        "The time before which the rows of each block and of earlier blocks are."

    def _note(self, group: int, rows: pa.Table) -> None:
        empty = (np.inf, -np.inf)
        self._spans.append(_bounds(self._table, rows["time"].to_numpy()) if len(rows) else empty)

    def __len__(self) -> int:
        return sum(self._sizes)

    def times(self) -> Iterator[Reals]:
        """Yield the times of each block in order [s]."""
        waiting: Reals = np.zeros(0)
        for group, end in enumerate(self._ends):
            read = self._source.read_group(self._table, group, ("time",))["time"].to_numpy()
            waiting = np.sort(np.concatenate([waiting, read]))
            count = int(np.searchsorted(waiting, end))
            yield waiting[:count]
            waiting = waiting[count:]

    def between(self, start: float, end: float) -> pa.Table:
        """Return the rows from `start` on and before `end` [s] in order of time."""
        first = int(np.searchsorted(self._ends, start, "right"))
        last = int(np.searchsorted(self._ends, end, "left"))
        parts = []
        for number in range(first, min(last + 1, len(self._ends))):
            block = self._block(number)
            low, high = np.searchsorted(block["time"].to_numpy(), (start, end))
            parts.append(block.slice(low, high - low))
        return join_rows(parts or [TABLES[self._table].empty_table()])

    def following(self, start: float) -> Iterator[pa.Table]:
        """Yield the rows from `start` [s] on in order of time, block by block."""
        for number in range(int(np.searchsorted(self._ends, start, "right")), len(self._ends)):
            block = self._block(number)
            yield block.slice(int(np.searchsorted(block["time"].to_numpy(), start)))

    def of_event(self, publication: int) -> pa.Table:
        """Return the rows of an event in order of time."""
        return in_order(self.of_events(np.array([publication]), self._columns), "time")

    def _block(self, number: int) -> pa.Table:
        block = self._blocks.get(number)
        if block is None:
            start = self._ends[number - 1] if number else -np.inf
            parts = []
            for group in np.flatnonzero(self._highs[: number + 1] >= start).tolist():
                rows = self._read(group)
                times = rows["time"].to_numpy()
                inside = (times >= start) & (times < self._ends[number])
                parts.append(rows if inside.all() else rows.filter(pa.array(inside)))
            block = in_order(join_rows(parts or [TABLES[self._table].empty_table()]), "time")
            self._blocks.put(number, block)
        return block


def in_order(table: pa.Table, *names: str) -> pa.Table:
    """Return a table sorted by columns; rows that are equal in them keep their order."""
    table = table.combine_chunks()
    keys = [table[name].to_numpy() for name in reversed(names)]
    order = np.lexsort(keys)
    return table if (order == np.arange(len(order))).all() else table.take(order).combine_chunks()


def column(table: pa.Table, name: str) -> npt.NDArray[Any]:
    """Return a column as an array."""
    return np.asarray(table[name].to_numpy())


def join_rows(parts: Sequence[pa.Table]) -> pa.Table:
    """Return tables of one schema as one."""
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def _fields(table: str, names: Sequence[str]) -> pa.Schema:
    return pa.schema([TABLES[table].field(name) for name in names])


def _bounds(table: str, times: Reals) -> tuple[float, float]:
    low, high = float(times.min()), float(times.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise FactsError(f"{table}: a row has a time that is no number of seconds")
    return low, high
