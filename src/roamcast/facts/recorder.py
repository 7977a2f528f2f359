"""Record the facts of a run while it is simulated.

Actions of applications are recorded row by row; transmissions, drops, states and movement as columns. Rows
stay in memory until the end, or are written to disk at each `flush`. The two most frequent drop reasons
(`UNTOLD`) are only counted.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, RunManifest, from_rows
from roamcast.facts.writer import FactsWriter
from roamcast.routing.router import Category, Drop, NodeId, Publication

UNTOLD = frozenset({Drop.DUPLICATE, Drop.NOT_MINE})
"Drop reasons that are counted and have no rows, because most overheard messages end with them."

CATEGORIES = [category.name.lower() for category in Category]

OUTCOMES = ("satisfied", "expired", "open", "abandoned")
"The outcomes of a request."


class CodedColumn(NamedTuple):
    """A dictionary-encoded column of strings: a code for each row, and the string of each code."""

    codes: npt.NDArray[Any]
    strings: Sequence[str]


Audience: TypeAlias = npt.NDArray[np.int32]
"Sorted node numbers."

Column: TypeAlias = npt.NDArray[Any] | CodedColumn


class Recorder:
    """Records one run, in memory or in a folder."""

    def __init__(
        self, folder: str | Path | None = None, packed: bool = False, *, count_expectations: bool = False
    ) -> None:
        """Start recording; `count_expectations` counts expectations and lists only those that were met."""
        self._audiences: dict[int, Audience] | None = {} if count_expectations else None
        "The nodes that expect each publication, if expectations are counted."
        self._writer = None if folder is None else FactsWriter(folder, packed)
        self._tables: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        self._kinds: set[tuple[bool, str, str]] = set()
        "Tuples of: whether the message was dropped, its kind, its category."
        self._publications: list[tuple[int, float, int, int, str]] = []
        # Arrays instead of tuples: there are many rows, and the garbage collector visits every tuple.
        self._expectations: dict[str, array[Any]] = {"publication": array("q"), "node": array("i")}
        self._deliveries: dict[str, array[Any]] = {
            "publication": array("q"),
            "node": array("i"),
            "time": array("d"),
        }
        self._deliver = tuple(column.append for column in self._deliveries.values())
        self._interests: list[tuple[float, int, str, bool]] = []
        self._drops: list[dict[str, Column]] = []
        self._requests: list[tuple[int, int, float, str, str, float, int, bool]] = []
        self._sizes: list[tuple[float, int, str, int, int]] = []
        self._events: dict[Event, str] = {}
        self._filters: dict[Filter, str] = {}

    def publication(self, time: float, publication: Publication) -> None:
        """Record that an event was published at `time` [s]."""
        event = publication.event
        text = self._events.get(event)
        if text is None:
            text = self._events[event] = event.to_json()
        self._publications.append((publication.id, time, publication.publisher, publication.size, text))

    def expectations(self, publication: int, nodes: npt.ArrayLike) -> None:
        """Record that `nodes` (sorted), except the publisher, expect a publication."""
        audience = np.asarray(nodes, np.int32)
        publisher = publication >> 32
        place = int(np.searchsorted(audience, publisher))
        within = bool(place < len(audience) and audience[place] == publisher)
        if self._audiences is None:
            expecting = np.delete(audience, place) if within else audience
            self._expect(publication, expecting)
            return
        self._audiences[publication] = audience
        if len(audience) > within:
            self._expect(publication, np.array([within - len(audience)], np.int32))

    def _expect(self, publication: int, nodes: npt.NDArray[np.int32]) -> None:
        self._expectations["publication"].extend(array("q", [publication]) * len(nodes))
        self._expectations["node"].frombytes(nodes.tobytes())

    def _expect_delivered(self) -> None:
        """Record the expectations that were met since the last flush, if expectations are counted."""
        if self._audiences is None or not self._deliveries["node"]:
            return
        publication, node = (np.array(self._deliveries[name]) for name in ("publication", "node"))
        order = np.argsort(publication, kind="stable")
        ids, starts = np.unique(publication[order], return_index=True)
        for id, nodes in zip(ids.tolist(), np.split(node[order], starts[1:]), strict=True):
            audience = self._audiences.get(id)
            if audience is not None and len(audience):
                place = np.minimum(np.searchsorted(audience, nodes), len(audience) - 1)
                self._expect(id, nodes[(audience[place] == nodes) & (nodes != id >> 32)])

    def delivery(self, publication: int, node: NodeId, time: float) -> None:
        """Record that an event was delivered to the application of a node at `time` [s]."""
        add_publication, add_node, add_time = self._deliver
        add_publication(publication)
        add_node(node)
        add_time(time)

    def deliveries(self, **columns: npt.NDArray[Any]) -> None:
        """Record deliveries, given as columns of the table deliveries."""
        _check_columns("deliveries", columns)
        for name, column in self._deliveries.items():
            column.frombytes(np.ascontiguousarray(columns[name], column.typecode).tobytes())

    def interest(self, time: float, node: NodeId, filter: Filter, begins: bool) -> None:
        """Record that a node subscribes (`begins`) or unsubscribes at `time` [s]."""
        self._interests.append((time, node, self._text(filter), begins))

    def request(
        self,
        request: int,
        node: NodeId,
        time: float,
        filter: Filter,
        outcome: str,
        *,
        answered: float = nan,
        publication: int = -1,
        fresh: bool = False,
    ) -> None:
        """Record a request that a node made at `time` [s], once its outcome is known."""
        if outcome not in OUTCOMES:
            raise ValueError(
                f"{outcome!r} is not an outcome of a request; expected one of {', '.join(OUTCOMES)}"
            )
        self._requests.append(
            (request, node, time, self._text(filter), outcome, answered, publication, fresh)
        )

    def table_size(self, time: float, node: NodeId, table: str, entries: int, bytes: int) -> None:
        """Record the entries and the bytes [B] of a router's table at `time` [s]."""
        self._sizes.append((time, node, table, entries, bytes))

    def states(self, **columns: Column) -> None:
        """Record states that routers reported, given as columns of the table states."""
        self._add("states", _from_columns("states", columns))

    def legs(self, **columns: Column) -> None:
        """Record the movement of nodes, given as columns of the table legs."""
        self._add("legs", _from_columns("legs", columns))

    def transmissions(self, **columns: Column) -> None:
        """Record transmissions, given as columns of the table transmissions."""
        rows = _from_columns("transmissions", columns)
        found = _occurring(*(_decode(rows[name]) for name in ("kind", "category")))
        self._kinds.update((False, *pair) for pair in found)
        self._add("transmissions", rows)

    def drops(self, **columns: Column) -> None:
        """Record drops by the link or by routers, given as columns of the table drops."""
        _check_columns("drops", columns)
        if len(columns["time"]):
            self._drops.append(columns)

    def kinds(self) -> dict[str, str]:
        """Return the kinds of the recorded messages, each with its category."""
        self._note_dropped_kinds()
        ranked = sorted(self._kinds, key=lambda found: (found[0], CATEGORIES.index(found[2])))
        return dict(sorted({kind: category for _, kind, category in ranked}.items()))

    @property
    def pending_rows(self) -> int:
        """Return the number of table sizes, publications and expectations that are not flushed yet."""
        return len(self._sizes) + len(self._publications) + len(self._expectations["node"])

    def flush(self) -> None:
        """Convert pending rows to tables, and write them if there is a folder.

        Drops are sorted by time within a flush, so no drop may be recorded later that happened before it.
        """
        self._expect_delivered()
        self._add("publications", from_rows("publications", self._publications))
        self._add("expectations", _from_arrays("expectations", self._expectations))
        self._add("deliveries", _from_arrays("deliveries", self._deliveries))
        self._add("interests", from_rows("interests", self._interests))
        self._add("tables", from_rows("tables", self._sizes))
        if self._drops:
            self._note_dropped_kinds()
            self._add("drops", _from_columns("drops", _merge(self._drops)))
        for held in (self._publications, self._interests, self._sizes, self._drops):
            held.clear()
        for column in (*self._expectations.values(), *self._deliveries.values()):
            del column[:]

    def facts(self, run: RunManifest) -> Facts:
        """Return the recorded facts, with tables in memory or in the folder, and end the recording."""
        self.flush()
        # Requests are sorted by their start and recorded when they end, so they are written last.
        in_order = sorted(self._requests, key=lambda row: (row[2], row[0]))
        self._add("requests", from_rows("requests", in_order))
        self._requests.clear()
        if self._writer is None:
            return Facts(run, {name: _join(name, pieces) for name, pieces in self._tables.items()})
        return Facts(run, self._writer.finish(run))

    def discard(self) -> None:
        """Remove the files of a run that did not finish."""
        if self._writer is not None:
            self._writer.discard()

    def _note_dropped_kinds(self) -> None:
        for columns in self._drops:
            kind, category = columns["kind"], columns["category"]
            if isinstance(kind, CodedColumn) and isinstance(category, CodedColumn):
                self._kinds.update((True, *pair) for pair in _occurring(kind, category))

    def _add(self, name: str, rows: pa.Table) -> None:
        if len(rows) and self._writer is None:
            self._tables[name].append(rows)
        elif len(rows) and self._writer is not None:
            self._writer.append(name, rows)

    def _text(self, filter: Filter) -> str:
        text = self._filters.get(filter)
        if text is None:
            text = self._filters[filter] = str(filter)
        return text


def _from_arrays(name: str, columns: dict[str, array[Any]]) -> pa.Table:
    return _from_columns(name, {key: np.array(column) for key, column in columns.items()})


def _decode(column: pa.ChunkedArray) -> CodedColumn:
    strings = column.combine_chunks()
    return CodedColumn(strings.indices.to_numpy(), strings.dictionary.to_pylist())


def _occurring(one: CodedColumn, other: CodedColumn) -> set[tuple[str, str]]:
    """Return the pairs of strings that occur together in a row of two columns."""
    both = one.codes.astype(np.int64) * len(other.strings) + other.codes
    found = np.flatnonzero(np.bincount(both)).tolist()
    return {
        (one.strings[code // len(other.strings)], other.strings[code % len(other.strings)]) for code in found
    }


def _check_columns(name: str, columns: Mapping[str, Column]) -> None:
    if columns.keys() != set(TABLES[name].names):
        raise TypeError(f"{name} has the columns {TABLES[name].names}, not {sorted(columns)}")


def _merge(sources: list[dict[str, Column]]) -> dict[str, Column]:
    """Return the rows of all sources in order of time; rows that are in order are not sorted again."""
    whole = sources[0]
    if len(sources) > 1:
        whole = {name: _concatenate([source[name] for source in sources]) for name in whole}
    time = np.asarray(whole["time"])
    if np.all(time[1:] >= time[:-1]):
        return whole
    order = np.argsort(time, kind="stable")
    return {
        name: CodedColumn(column.codes[order], column.strings)
        if isinstance(column, CodedColumn)
        else column[order]
        for name, column in whole.items()
    }


def _concatenate(columns: list[Column]) -> Column:
    plain = [column for column in columns if not isinstance(column, CodedColumn)]
    if plain:
        return np.concatenate(plain)
    strings: dict[str, int] = {}
    codes = []
    for column in columns:
        if isinstance(column, CodedColumn):
            new = np.array([strings.setdefault(string, len(strings)) for string in column.strings], np.int16)
            codes.append(new[column.codes])
    return CodedColumn(np.concatenate(codes), list(strings))


def _from_columns(name: str, columns: dict[str, Column]) -> pa.Table:
    _check_columns(name, columns)
    schema = TABLES[name]
    arrays = []
    for field in schema:
        column = columns[field.name]
        if isinstance(column, CodedColumn):
            arrays.append(_encode(column))
        else:
            arrays.append(pa.array(np.ascontiguousarray(column)).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _encode(column: CodedColumn) -> pa.DictionaryArray:
    """Return the column as an Arrow dictionary that has each occurring string exactly once.

    With a duplicate string in the dictionary, the Parquet writer counts both and writes one, and fills the
    page with uninitialised memory.
    """
    place: dict[str, int] = {}
    coded = np.zeros(len(column.strings), np.int16)
    for code in np.flatnonzero(np.bincount(column.codes, minlength=len(column.strings))).tolist():
        coded[code] = place.setdefault(column.strings[code], len(place))
    return pa.DictionaryArray.from_arrays(pa.array(coded[column.codes]), pa.array(list(place), pa.string()))


def _join(name: str, tables: list[pa.Table]) -> pa.Table:
    if not tables:
        return TABLES[name].empty_table()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()
