"""Matching on Spark: many events against many filters, with one match index per partition.

The smaller side is broadcast: with few filters each task has all filters and a part of the events; with few
events each task has all events and indexes a part of the filters. If both are large, a shuffle sends every
event to every part of the filters, after the filters of that part, so that a task holds one index and no
events.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match.index import MatchIndex
from roamcast.errors import UserError
from roamcast.fingerprint import checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roamcast.content.schema import EventType

SMALL = 16 << 20
"Maximum size of the side that is broadcast [B]."

PER_INDEX = 500_000
"Approximate number of filters in one index (180 MB)."

_REMEMBERED = 4096
"Number of parsed filters that are kept, because equal filters may be frequent."

_REPEATED = 0.2
"""Minimum number of repeated filters per parsed one; below it none are kept, since keeping them takes an
eighth of the time of parsing and indexing."""


_ALLOCATIONS = 1_000_000
"Number of new objects after which the collector runs while filters are indexed."


class BroadcastSide(StrEnum):
    """The side that is sent to every task."""

    FILTERS = "filters"
    EVENTS = "events"
    NEITHER = "neither"


class MatchingError(UserError):
    """Filters or events that cannot be matched."""


MATCHES = pa.schema(
    [
        pa.field("event", pa.int64(), metadata={"meaning": "the event's id; null if a filter is bad"}),
        pa.field("filter", pa.int64(), metadata={"meaning": "the filter's id; null in counts"}),
        pa.field("count", pa.int64(), metadata={"meaning": "filters that match the event"}),
        pa.field(
            "why", pa.string(), metadata={"meaning": "why event or filter was not understood; else null"}
        ),
    ]
)
"The rows that tasks yield."

_Row = tuple[int | None, int | None, int | None, str | None]


def choose_broadcast_side(filters: int, events: int) -> BroadcastSide:
    """Return the side to broadcast, given the sizes of all filters and of all events [B]."""
    if filters <= SMALL and (filters <= events or events > SMALL):
        return BroadcastSide.FILTERS
    return BroadcastSide.EVENTS if events <= SMALL else BroadcastSide.NEITHER


def match(
    filters: DataFrame,
    events: DataFrame,
    types: Mapping[str, EventType],
    *,
    way: BroadcastSide | None = None,
    parts: int | None = None,
    pairs: bool = False,
) -> DataFrame:
    """Match `filters` (id, filter: XPath or bytes) with `events` (id, event: JSON); return rows of `MATCHES`.

    There is a row for each event with the number of its filters, or with `pairs` a row for each match, and a
    row with the reason for each filter or event that cannot be parsed. The defaults of `way` and `parts`
    depend on the sizes.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import from_arrow_schema

    bodies = filters.select("id", f.col("filter").alias("body"))
    published = events.select("id", f.col("event").alias("body"))
    weighed = [_weigh(frame) for frame in (bodies, published)]
    way = way or choose_broadcast_side(weighed[0][1], weighed[1][1])
    of_filters = parts or max(-(-weighed[0][0] // PER_INDEX), _slots(filters))
    known, schema = dict(types), from_arrow_schema(MATCHES)
    if way is BroadcastSide.EVENTS:
        rows = published.toArrow()
        frame = bodies.repartition(of_filters, "id")
        found = frame.mapInArrow(checked(_indexing(lambda: _pairs_of(rows), known, pairs)), schema)
    elif way is BroadcastSide.FILTERS:
        broadcast = bodies.toArrow()
        frame = published.repartition(parts or 4 * _slots(filters), "id")
        found = frame.mapInArrow(checked(_streaming(broadcast, known, pairs)), schema)
    else:
        text = filters.schema["filter"].dataType.typeName() == "string"
        visiting = _visiting(known, pairs, text=text)
        found = _shuffle(bodies, published, of_filters).mapInArrow(checked(visiting), schema)
    if pairs:
        bad = found.where("why is not null").dropDuplicates(["event", "filter"])
        return found.where("why is null").unionByName(bad)
    # One aggregation for counts and errors: a union of two would build and ask every index twice.
    return (
        found.groupBy("event", "filter", "why")
        .agg(f.sum("count").alias("count"))
        .select("event", "filter", "count", "why")
    )


def _weigh(frame: DataFrame) -> tuple[int, int]:
    """Return the number of rows and their size [B]."""
    from pyspark.sql import functions as f

    row = frame.agg(f.count("*"), f.sum(f.octet_length("body") + 8)).first()
    return (row[0], row[1] or 0) if row else (0, 0)


def _slots(frame: DataFrame) -> int:
    from pyspark.errors import PySparkException

    try:
        return int(frame.sparkSession.sparkContext.defaultParallelism)
    except PySparkException:  # not available over Spark Connect
        return 8


def _pairs_of(table: pa.Table | pa.RecordBatch, text: bool = False) -> Iterator[tuple[int, Any]]:
    """Return the ids and bodies of a table; with `text`, bodies are bytes of strings."""
    bodies = table["body"].cast(pa.string()) if text else table["body"]
    return zip(table["id"].to_pylist(), bodies.to_pylist(), strict=True)


def _indexing(
    events: Callable[[], Iterable[tuple[int, Any]]], types: dict[str, EventType], pairs: bool
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the task that indexes its filters and matches all events."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = _Index(types)
        for batch in batches:
            index.add(_pairs_of(batch))
        yield from _gather(index.results(events(), pairs))

    return work


def _streaming(
    filters: pa.Table, types: dict[str, EventType], pairs: bool
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the task that indexes all filters and matches its events."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = _Index(types)
        index.add(_pairs_of(filters))
        yield from _gather(index.results((row for batch in batches for row in _pairs_of(batch)), pairs))

    return work


_FILTER, _EVENT = 0, 1


def _shuffle(filters: DataFrame, events: DataFrame, parts: int) -> DataFrame:
    """Return a partition for each part of the filters: its filters, then all events."""
    from pyspark.sql import functions as f

    part = f.pmod(f.xxhash64("id"), f.lit(parts)).cast("int").alias("part")
    own = filters.select(part, f.lit(_FILTER).alias("kind"), "id", f.col("body").cast("binary"))
    numbers = filters.sparkSession.range(parts).select(f.col("id").cast("int").alias("part"))
    visits = events.crossJoin(f.broadcast(numbers)).select(
        "part", f.lit(_EVENT).alias("kind"), "id", f.col("body").cast("binary")
    )
    return own.unionByName(visits).repartitionById(parts, "part").sortWithinPartitions("part", "kind")


def _visiting(
    types: dict[str, EventType], pairs: bool, *, text: bool
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the task that indexes the filters of its part and then matches all events."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = _Index(types)

        def rows() -> Iterator[_Row]:
            for batch in batches:
                filters = batch.num_rows - (pc.sum(batch["kind"]).as_py() or 0)  # they are sorted first
                index.add(_pairs_of(batch.slice(0, filters), text))
                yield from index.matches(_pairs_of(batch.slice(filters)), pairs)
            yield from index.bad

        yield from _gather(rows())

    return work


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Let Python's collector run rarely in the block, and pass over objects that exist already.

    Indexing creates millions of objects without cycles. Traversing them took a quarter of the time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Index:
    """The match index of one task."""

    def __init__(self, types: dict[str, EventType]) -> None:
        self.types = types
        self.index: MatchIndex[int] = MatchIndex()
        self.bad: list[_Row] = []
        self._read: dict[Any, Filter] | None = {}
        "Parsed filters; None if filters are seldom repeated."
        self._repeated = 0
        "Number of filters found in `_read` since it was empty."

    def add(self, filters: Iterable[tuple[int, Any]]) -> None:
        """Index filters; equal filters are parsed once, unless they are rare."""
        with _rare_collection():
            self._add(filters)

    def _add(self, filters: Iterable[tuple[int, Any]]) -> None:
        for id, body in filters:
            filter = None if self._read is None else self._read.get(body)
            if filter is None:
                try:
                    filter = read_filter(body, self.types)
                except ContentError as error:
                    self.bad.append((None, id, None, str(error)[:300]))
                    continue
                if self._read is not None:
                    self._remember(body, filter)
            else:
                self._repeated += 1
            self.index.add(id, filter)

    def _remember(self, body: Any, filter: Filter) -> None:
        assert self._read is not None
        if len(self._read) == _REMEMBERED:
            if self._repeated < _REPEATED * _REMEMBERED:
                self._read = None
                return
            self._read.clear()
            self._repeated = 0
        self._read[body] = filter

    def results(self, events: Iterable[tuple[int, Any]], pairs: bool) -> Iterator[_Row]:
        """Yield the rows of events, then those of filters and events that cannot be parsed."""
        yield from self.matches(events, pairs)
        yield from self.bad

    def matches(self, events: Iterable[tuple[int, Any]], pairs: bool) -> Iterator[_Row]:
        """Yield the rows of events."""
        for id, body in events:
            try:
                event = Event.from_json(body or "", self.types)
            except ContentError as error:
                self.bad.append((id, None, None, str(error)[:300]))
                continue
            found = self.index.match(event)
            if pairs:
                for filter in found:
                    yield id, filter, 1, None
            else:
                yield id, None, len(found), None


def read_filter(body: Any, types: Mapping[str, EventType]) -> Filter:
    """Return the filter that is given as XPath or as bytes."""
    if body is None:
        raise ContentError("no filter at all")
    return Filter.parse(body, types) if isinstance(body, str) else Filter.from_bytes(bytes(body), types)


def _gather(rows: Iterable[_Row], size: int = 20_000) -> Iterator[pa.RecordBatch]:
    waiting: list[_Row] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == size:
            yield _batch(waiting)
            waiting = []
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[_Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for field, column in zip(MATCHES, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=MATCHES)
