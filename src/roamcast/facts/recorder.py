"""The recorder: takes down what happens while it happens, cheaply, and makes facts of it.

What applications do comes a row at a time; what link and routers did, and how everyone moved, comes as
columns. All of it is held in memory until the end, or goes to disk each time that it is settled. The two
kinds of drop that most messages heard end as (`UNTOLD`) are only counted.
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
"Reasons that are counted and have no row: where the air is shared, nearly everything heard ends so."

CATEGORIES = [category.name.lower() for category in Category]

OUTCOMES = ("satisfied", "expired", "open", "abandoned")
"What becomes of a request."


class CodedColumn(NamedTuple):
    """A column of words: a code for each row, and the word of each code."""

    codes: npt.NDArray[Any]
    words: Sequence[str]


Audience: TypeAlias = npt.NDArray[np.int32]
"Nodes in order."

Column: TypeAlias = npt.NDArray[Any] | CodedColumn


class Recorder:
    """Takes down one run, in memory, or in a folder while it goes on."""

    def __init__(
        self, folder: str | Path | None = None, packed: bool = False, *, count_expectations: bool = False
    ) -> None:
        """Begin; with `count_expectations` expectations are counted, and listed only if they were met."""
        self._audiences: dict[int, Audience] | None = {} if count_expectations else None
        "Of each publication those who want it, if they are counted."
        self._writer = None if folder is None else FactsWriter(folder, packed)
        self._tables: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        self._kinds: set[tuple[bool, str, str]] = set()
        "Whether dropped, kind, category."
        self._publications: list[tuple[int, float, int, int, str]] = []
        # Arrays, not rows: a flood has many of these, and the garbage collector visits every row that lives.
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
        """Take down that an event was published."""
        event = publication.event
        text = self._events.get(event)
        if text is None:
            text = self._events[event] = event.to_json()
        self._publications.append((publication.id, time, publication.publisher, publication.size, text))

    def expectations(self, publication: int, wanting: npt.ArrayLike) -> None:
        """Take down who should get it: all nodes in `wanting`, which is in order, but for its publisher."""
        audience = np.asarray(wanting, np.int32)
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
        """Take down those expectations that were met since the last time, where expectations are counted."""
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
        """Take down that an event reached an application."""
        add_publication, add_node, add_time = self._deliver
        add_publication(publication)
        add_node(node)
        add_time(time)

    def deliveries(self, **columns: npt.NDArray[Any]) -> None:
        """Take down such rows as columns of the deliveries table."""
        _check_columns("deliveries", columns)
        for name, column in self._deliveries.items():
            column.frombytes(np.ascontiguousarray(columns[name], column.typecode).tobytes())

    def interest(self, time: float, node: NodeId, wanted: Filter, begins: bool) -> None:
        """Take down that a node starts or stops wanting something."""
        self._interests.append((time, node, self._text(wanted), begins))

    def request(
        self,
        request: int,
        node: NodeId,
        time: float,
        wanted: Filter,
        outcome: str,
        *,
        answered: float = nan,
        publication: int = -1,
        fresh: bool = False,
    ) -> None:
        """Take down a request that a node made at `time`, once it is known what became of it."""
        if outcome not in OUTCOMES:
            raise ValueError(f"{outcome!r} is no outcome of a request; they are {', '.join(OUTCOMES)}")
        self._requests.append(
            (request, node, time, self._text(wanted), outcome, answered, publication, fresh)
        )

    def table_size(self, time: float, node: NodeId, table: str, entries: int, bytes: int) -> None:
        """Take down how much a router's table held."""
        self._sizes.append((time, node, table, entries, bytes))

    def states(self, **columns: Column) -> None:
        """Take down what routers told of themselves, as columns of the states table."""
        self._add("states", _from_columns("states", columns))

    def legs(self, **columns: Column) -> None:
        """Take down how everyone moves, as columns of the legs table."""
        self._add("legs", _from_columns("legs", columns))

    def transmissions(self, **columns: Column) -> None:
        """Take down what the link sent, as columns of the transmissions table."""
        rows = _from_columns("transmissions", columns)
        found = _occurring(*(_decode(rows[name]) for name in ("kind", "category")))
        self._kinds.update((False, *pair) for pair in found)
        self._add("transmissions", rows)

    def drops(self, **columns: Column) -> None:
        """Take down what link or routers let go, as columns of the drops table."""
        _check_columns("drops", columns)
        if len(columns["time"]):
            self._drops.append(columns)

    def kinds(self) -> dict[str, str]:
        """The kinds of the messages taken down, each with its category."""
        self._note_dropped_kinds()
        ranked = sorted(self._kinds, key=lambda found: (found[0], CATEGORIES.index(found[2])))
        return dict(sorted({kind: category for _, kind, category in ranked}.items()))

    @property
    def pending_rows(self) -> int:
        """Rows of applications that are in memory, a row at a time."""
        return len(self._sizes) + len(self._publications) + len(self._expectations["node"])

    def flush(self) -> None:
        """Make rows of what was held back. All that happened until now must have been taken down: drops are
        put in order of time, and none may come that is earlier."""
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
        """All that was taken down, as tables: in memory, or to be read from the folder."""
        self.flush()
        # By when they were made, and known only once they are answered: these wait for the end.
        in_order = sorted(self._requests, key=lambda row: (row[2], row[0]))
        self._add("requests", from_rows("requests", in_order))
        self._requests.clear()
        if self._writer is None:
            return Facts(run, {name: _join(name, pieces) for name, pieces in self._tables.items()})
        return Facts(run, self._writer.finish(run))

    def discard(self) -> None:
        """Remove what was written of a run that came to no end."""
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

    def _text(self, wanted: Filter) -> str:
        text = self._filters.get(wanted)
        if text is None:
            text = self._filters[wanted] = str(wanted)
        return text


def _from_arrays(name: str, columns: dict[str, array[Any]]) -> pa.Table:
    return _from_columns(name, {key: np.array(column) for key, column in columns.items()})


def _decode(column: pa.ChunkedArray) -> CodedColumn:
    words = column.combine_chunks()
    return CodedColumn(words.indices.to_numpy(), words.dictionary.to_pylist())


def _occurring(one: CodedColumn, other: CodedColumn) -> set[tuple[str, str]]:
    """The pairs of words that stand in a row of two columns."""
    both = one.codes.astype(np.int64) * len(other.words) + other.codes
    found = np.flatnonzero(np.bincount(both)).tolist()
    return {(one.words[code // len(other.words)], other.words[code % len(other.words)]) for code in found}


def _check_columns(name: str, columns: Mapping[str, Column]) -> None:
    if columns.keys() != set(TABLES[name].names):
        raise TypeError(f"{name} has the columns {TABLES[name].names}, not {sorted(columns)}")


def _merge(sources: list[dict[str, Column]]) -> dict[str, Column]:
    """The rows of all sources in order of time; a source in order by itself costs no sorting."""
    whole = sources[0]
    if len(sources) > 1:
        whole = {name: _concatenate([source[name] for source in sources]) for name in whole}
    time = np.asarray(whole["time"])
    if np.all(time[1:] >= time[:-1]):
        return whole
    order = np.argsort(time, kind="stable")
    return {
        name: CodedColumn(column.codes[order], column.words)
        if isinstance(column, CodedColumn)
        else column[order]
        for name, column in whole.items()
    }


def _concatenate(columns: list[Column]) -> Column:
    plain = [column for column in columns if not isinstance(column, CodedColumn)]
    if plain:
        return np.concatenate(plain)
    words: dict[str, int] = {}
    codes = []
    for column in columns:
        if isinstance(column, CodedColumn):
            new = np.array([words.setdefault(word, len(words)) for word in column.words], np.int16)
            codes.append(new[column.codes])
    return CodedColumn(np.concatenate(codes), list(words))


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
    """The column as Arrow has it, with each word that occurs once, and no other.

    Of a word that is there twice the Parquet writer would count both and write one, and fill up the page
    with whatever was in memory.
    """
    place: dict[str, int] = {}
    coded = np.zeros(len(column.words), np.int16)
    for code in np.flatnonzero(np.bincount(column.codes, minlength=len(column.words))).tolist():
        coded[code] = place.setdefault(column.words[code], len(place))
    return pa.DictionaryArray.from_arrays(pa.array(coded[column.codes]), pa.array(list(place), pa.string()))


def _join(name: str, tables: list[pa.Table]) -> pa.Table:
    if not tables:
        return TABLES[name].empty_table()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()
