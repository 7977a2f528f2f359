"""Conversion of ns-2 traces of any size to facts on Spark, with the same result as `assembly`.

Lines are read once, in file parts. The transmissions of a node depend on the order of its lines, so the
lines are sorted by node and offset; publications are joined to the other tables by their packet. One task
writes a table of a run, a row group at a time, to the folder that workers and driver share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.fingerprint import checked
from roamcast.ingest.assembly import check, drop_row, publication_row
from roamcast.ingest.description import TraceCounts, TraceDescription
from roamcast.ingest.file_parts import BadLine
from roamcast.ingest.node_movement import find_moves, read_moves, trace_legs
from roamcast.ingest.readers.ns2trace import TraceRecord
from roamcast.ingest.source import register
from roamcast.ingest.transmissions import LINK_KINDS, ROUTING_PORT, TraceTransmission, follow

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_GROUP = 1 << 17
"Number of rows in a row group."


class IngestedRun(NamedTuple):
    """An imported run: its trace, the folder of its facts, and counts of its lines."""

    path: str
    folder: Path
    notes: list[str]
    lines: int
    bad: int


def ingest_runs(
    spark: SparkSession, folders: dict[str, Path], description: TraceDescription
) -> tuple[list[IngestedRun], list[dict[str, Any]]]:
    """Write the facts of each trace (by path) to its folder; return the runs and the bad lines."""
    from pyspark import StorageLevel

    register(spark)
    rows = spark.read.format("roamcast.ns2trace").load(list(folders)).persist(StorageLevel.DISK_ONLY)
    try:
        tallies = _count(rows, folders)
        bad = [row.asDict() for row in _bad(rows).limit(_MOST_BAD).toLocalIterator()]
        for path, tally in tallies.items():
            mine = [BadLine(row["offset"], row["why"], row["text"]) for row in bad if row["file"] == path]
            check(path, tally.lines, tally.bad, mine[0] if mine else None)
        return _write_all(rows.where("bad is null"), folders, tallies, description), bad
    finally:
        rows.unpersist()


_MOST_BAD = 100_000
"Maximum number of bad lines that are stored with their reasons; all are counted."


def _bad(rows: DataFrame) -> DataFrame:
    return rows.where("bad is not null").selectExpr("file", "offset", "bad as why", "text")


def _count(rows: DataFrame, folders: dict[str, Path]) -> dict[str, TraceCounts]:
    from pyspark.sql import functions as f

    named = f.when(_is_message() & (f.col("detail") != ""), f.concat_ws(" ", "kind", "detail")).otherwise(
        f.col("kind")
    )
    keys = ["event", "layer", "reason", named.alias("kind"), (f.col("port") == ROUTING_PORT).alias("routing")]
    counted = rows.groupBy("file", *keys).agg(
        f.count("*").alias("count"),
        f.max(f.greatest("node", "source", "target")).alias("last"),
        f.max("time").alias("end"),
    )
    tallies = {path: TraceCounts() for path in folders}
    for row in counted.toLocalIterator():
        tally = tallies[row["file"]]
        if row["event"] is None:
            tally.bad += row["count"]
        else:
            tally.counts[row["event"], row["layer"], row["reason"], row["kind"], row["routing"]] += row[
                "count"
            ]
            tally.nodes = max(tally.nodes, row["last"] + 1)
            tally.end = max(tally.end, row["end"])
    return tallies


def _write_all(
    records: DataFrame,
    folders: dict[str, Path],
    tallies: dict[str, TraceCounts],
    description: TraceDescription,
) -> list[IngestedRun]:
    from pyspark.sql import functions as f

    published = _published(records)
    columns = [f.col("publication"), f.col("uid"), f.col("packet"), "file"]
    known = published.select(*columns)
    present = records.groupBy("file").agg(f.collect_set("node").alias("present"))
    everyone = f.expr("filter(present, each -> each != node)")
    nodes = f.when(f.col("target") >= 0, f.array("target")).otherwise(everyone)
    expected = published.join(f.broadcast(present), "file").withColumn("node", f.explode(nodes))
    got = (
        records.where(_is_agents("r")).withColumn("packet", _packet()).join(known, ["file", "uid", "packet"])
    )
    rows = {
        "publications": (_publications(published), ["offset"]),
        "expectations": (expected, ["offset", "node"]),
        "deliveries": (got, ["offset"]),
        "drops": (_identify(_drops(records), known), ["offset"]),
        "transmissions": (
            _identify(_sent(records, tallies, description), known),
            ["time", "node", "number"],
        ),
    }
    places = {path: str(folder) for path, folder in folders.items()}
    written: dict[tuple[str, str], int] = {}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    for name, (frame, order) in rows.items():
        for row in _write(frame, name, order, places).collect():
            written[row["file"], name] = row["rows"]
    moves = _collect_moves(records, tallies, description)
    made = []
    for path, folder in folders.items():
        tally = tallies[path]
        tally.unsent = max(tally.handed - written.get((path, "transmissions"), 0), 0)
        movement = moves[path]
        tables = {name: TABLES[name].empty_table() for name in TABLES if (path, name) not in written}
        if movement is not None:
            tables["legs"] = trace_legs(movement, tally.end)
        Facts(tally.run(path, description), tables).write(folder)
        made.append(
            IngestedRun(
                path, folder, tally.notes(description, moved=movement is not None), tally.lines, tally.bad
            )
        )
    return made


def _is_message() -> Column:
    from pyspark.sql import functions as f

    return (f.col("kind") != "") & ~f.col("kind").isin(*LINK_KINDS)


def _is_agents(event: str) -> Column:
    from pyspark.sql import functions as f

    return (f.col("layer") == "AGT") & (f.col("event") == event) & _is_message() & (f.col("kind") != "ack")


def _packet() -> Column:
    from pyspark.sql import functions as f

    return f.when(f.col("port") == ROUTING_PORT, "").otherwise(f.col("kind"))


def _published(records: DataFrame) -> DataFrame:
    """Return the first line of each packet that an agent sent, with its publication id."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    of_packet = Window.partitionBy("file", "uid", "packet").orderBy("offset")
    of_node = Window.partitionBy("file", "node").orderBy("offset")
    first = (
        records.where(_is_agents("s"))
        .withColumn("packet", _packet())
        .withColumn("copy", f.row_number().over(of_packet))
        .where("copy = 1")
    )
    number = f.row_number().over(of_node).cast("bigint")
    return first.withColumn("publication", f.shiftleft(f.col("node").cast("bigint"), 32).bitwiseOR(number))


def _identify(frame: DataFrame, known: DataFrame) -> DataFrame:
    """Add the publication id of each row's packet, or -1."""
    return frame.join(known, ["file", "uid", "packet"], "left").fillna(-1, ["publication"])


_RECORD = list(TraceRecord._fields)


def _records(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, TraceRecord, dict[str, Any]]]:
    """Yield the file, the trace record and the additional columns of each row."""
    for batch in batches:
        names = batch.schema.names
        others = [name for name in names if name not in _RECORD and name != "file"]
        columns = [batch[name].to_pylist() for name in ("file", *_RECORD, *others)]
        for row in zip(*columns, strict=True):
            yield (
                row[0],
                TraceRecord(*row[1 : len(_RECORD) + 1]),
                dict(zip(others, row[len(_RECORD) + 1 :], strict=True)),
            )


def _map(
    frame: DataFrame,
    work: Callable[[Iterator[tuple[str, TraceRecord, dict[str, Any]]]], Iterator[tuple[Any, ...]]],
    schema: pa.Schema,
) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[Any, ...]] = []
        for row in work(_records(batches)):
            rows.append(row)
            if len(rows) == 10_000:
                yield _batch(rows, schema)
                rows = []
        if rows:
            yield _batch(rows, schema)

    return frame.mapInArrow(checked(run), from_arrow_schema(schema))


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(column, field.type) for field, column in zip(schema, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(name: str) -> list[pa.Field]:
    return [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in TABLES[name]
    ]


_FILE, _OFFSET = pa.field("file", pa.string()), pa.field("offset", pa.int64())
_PACKET = [pa.field("uid", pa.int64()), pa.field("packet", pa.string())]


def _publications(published: DataFrame) -> DataFrame:
    def work(rows: Iterator[tuple[str, TraceRecord, dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
        for file, record, other in rows:
            yield (file, record.offset, *publication_row(record, other["publication"]))

    return _map(published, work, pa.schema([_FILE, _OFFSET, *_plain("publications")]))


def _drops(records: DataFrame) -> DataFrame:
    def work(rows: Iterator[tuple[str, TraceRecord, dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
        for file, record, _ in rows:
            row = drop_row(record)
            if row is not None:
                packet = "" if record.port == ROUTING_PORT else record.kind
                yield (file, record.offset, record.uid, packet, *row)

    columns = [field for field in _plain("drops") if field.name != "publication"]
    return _map(records.where("event = 'd'"), work, pa.schema([_FILE, _OFFSET, *_PACKET, *columns]))


def _sent(records: DataFrame, tallies: dict[str, TraceCounts], description: TraceDescription) -> DataFrame:
    traced = {path: tally.traced("MAC") for path, tally in tallies.items()}
    rates = description.rates

    def work(rows: Iterator[tuple[str, TraceRecord, dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
        number = 0
        for file, own in _by_file(rows):
            for sent in follow(own, rates, link_traced=traced[file]):
                number += 1
                yield (file, number, *sent)

    columns = {field.name: field for field in _plain("transmissions")} | {
        field.name: field for field in _PACKET
    }
    schema = pa.schema(
        [_FILE, pa.field("number", pa.int64()), *(columns[name] for name in TraceTransmission._fields)]
    )
    wanted = records.where("layer in ('RTR', 'MAC', 'IFQ', 'LL')").select("file", *_RECORD)
    return _map(
        wanted.repartition("file", "node").sortWithinPartitions("file", "node", "offset"), work, schema
    )


def _by_file(
    rows: Iterator[tuple[str, TraceRecord, dict[str, Any]]],
) -> Iterator[tuple[str, Iterator[TraceRecord]]]:
    """Yield each file with an iterator over its records, without storing them."""
    from itertools import groupby

    for file, own in groupby(rows, key=lambda row: row[0]):
        yield file, (record for _, record, _ in own)


def _collect_moves(
    records: DataFrame, tallies: dict[str, TraceCounts], description: TraceDescription
) -> dict[str, Any]:
    """Return the movement of each run, from the first position of each node and its movement lines."""
    from pyspark.sql import functions as f

    if description.movement:
        return {path: read_moves(description.movement, tally.nodes) for path, tally in tallies.items()}
    first = records.where("x is not null").groupBy("file", "node").agg(f.min("offset").alias("offset"))
    places = (
        records.join(first, ["file", "node", "offset"]).unionByName(records.where("event = 'M'")).distinct()
    )
    found: dict[str, list[TraceRecord]] = {path: [] for path in tallies}
    for row in places.select("file", *_RECORD).toLocalIterator():
        found[row["file"]].append(TraceRecord(*row[1:]))
    return {
        path: find_moves(sorted(rows, key=lambda record: record.offset), tallies[path].nodes)
        for path, rows in found.items()
    }


def _write(frame: DataFrame, name: str, order: list[str], folders: dict[str, str]) -> DataFrame:
    """Write each run's rows of a table to its file; the result has one row per written file."""
    schema = TABLES[name]
    columns = list(dict.fromkeys(["file", *schema.names]))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer: _Writer | None = None
        for batch in batches:
            files = batch["file"].to_pylist()
            start = 0
            while start < len(files):
                end = next((at for at in range(start, len(files)) if files[at] != files[start]), len(files))
                if writer is not None and writer.file != files[start]:
                    yield writer.close()
                    writer = None
                if writer is None:
                    writer = _Writer(files[start], Path(folders[files[start]]) / f"{name}.parquet", schema)
                writer.add(batch.slice(start, end - start))
                start = end
        if writer is not None:
            yield writer.close()

    kept = frame.repartition("file").sortWithinPartitions("file", *order).select(*columns)
    return kept.mapInArrow(checked(work), "file string, rows long")


class _Writer:
    """Writes one table of one run to a Parquet file."""

    def __init__(self, file: str, target: Path, schema: pa.Schema) -> None:
        self.file = file
        self.target = target
        self.schema = schema
        self.rows = 0
        self._partial = target.with_name(f".{target.name}.partial")
        self._writer = pq.ParquetWriter(self._partial, schema, compression="zstd", write_page_checksum=True)
        self._waiting: list[pa.RecordBatch] = []
        self._held = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Append rows; a full row group is written."""
        self._waiting.append(batch)
        self._held += len(batch)
        if self._held >= _GROUP:
            self._flush()

    def close(self) -> pa.RecordBatch:
        """Complete the file and return its name and number of rows."""
        self._flush()
        self._writer.close()
        self._partial.replace(self.target)
        return pa.RecordBatch.from_pylist([{"file": self.file, "rows": self.rows}])

    def _flush(self) -> None:
        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting).select(self.schema.names)
        arrays = [
            (
                column.combine_chunks().dictionary_encode() if pa.types.is_dictionary(field.type) else column
            ).cast(field.type)
            for field, column in zip(self.schema, table.columns, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema), row_group_size=_GROUP)
        self.rows += self._held
        self._waiting, self._held = [], 0
