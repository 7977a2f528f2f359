"""Matching on Spark and with the single-process index: pairs of filter and event per second.

`python -m bench.matching [FILTERS EVENTS]`; the reference size is 1000000 100000. Both decode
filters from bytes and events from JSON, and must find the same counts; ways that would broadcast a large side
are left out. Rates are per processor time, of the JVM and all workers; elapsed times stand beside them.
"""

import sys
import tempfile
from pathlib import Path
from random import Random
from time import process_time

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from bench.lake import Family
from bench.loads import SYNTHETIC, synthetic_event, synthetic_filter
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex


def write(folder: Path, filters: int, events: int) -> tuple[Path, Path]:
    """Write filters and events drawn from a seed; return the two Parquet files."""
    r = Random(f"matching/{filters}")
    targets = folder / "filters.parquet", folder / "events.parquet"
    for target, count, name, draw, kind in (
        (targets[0], filters, "filter", lambda: synthetic_filter(r).to_bytes(), pa.binary()),
        (targets[1], events, "event", lambda: synthetic_event(r).to_json(), pa.string()),
    ):
        schema = pa.schema([("id", pa.int64()), (name, kind)])
        with pq.ParquetWriter(target, schema) as writer:
            for first in range(0, count, 50_000):
                ids = range(first, min(first + 50_000, count))
                writer.write_table(
                    pa.table([pa.array(ids), pa.array([draw() for _ in ids], kind)], schema=schema)
                )
    return targets


def alone(filters: Path, events: Path) -> tuple[int, float, float]:
    """Return the number of matches of one process, and the times to build the index and to match [s]."""
    types = {SYNTHETIC.name: SYNTHETIC}
    start = process_time()
    index: MatchIndex[int] = MatchIndex()
    for batch in pq.ParquetFile(filters).iter_batches():
        for id, coded in zip(batch["id"].to_pylist(), batch["filter"].to_pylist(), strict=True):
            index.add(id, Filter.from_bytes(coded, types))
    built = process_time()
    total = 0
    for batch in pq.ParquetFile(events).iter_batches():
        for text in batch["event"].to_pylist():
            total += len(index.match(Event.from_json(text, types)))
    return total, built - start, process_time() - built


def main(filters: int = 50_000, events: int = 2_000) -> None:
    from roamcast.pipeline.matching.match_join import SMALL, BroadcastSide, choose_broadcast_side, match
    from roamcast.pipeline.spark.executors import warm_up
    from roamcast.pipeline.spark.session import open_session

    table = Table(title=f"{filters:,} filters x {events:,} events")
    for column in ("how", "matches", "CPU s", "elapsed s", "pairs/s and core", "to one process"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), filters, events)
        total, built, matched = alone(*paths)
        rate = filters * events / (built + matched)
        table.add_row("one process", f"{total:,}", f"{built:.1f} + {matched:.1f}", "", f"{rate:,.0f}", "1.00")
        with open_session() as spark:
            warm_up(spark)
            frames = [spark.read.parquet(str(path)) for path in paths]
            bodies = zip(frames, ("filter", "event"), strict=True)
            sizes = [frame.selectExpr(f"sum(octet_length({name}) + 8)").first()[0] for frame, name in bodies]
            too_large = {BroadcastSide.FILTERS: sizes[0] > SMALL, BroadcastSide.EVENTS: sizes[1] > SMALL}
            for way in (way for way in BroadcastSide if not too_large.get(way)):
                with Family() as took:
                    found = match(*frames, {SYNTHETIC.name: SYNTHETIC}, way=way)
                    counted = found.selectExpr("sum(count)").first()[0]
                assert counted == total, f"{way}: {counted} matches, not {total}"
                of_core = filters * events / took.spent
                chosen = " (chosen)" if way is choose_broadcast_side(*sizes) else ""
                seconds = f"{took.spent:.1f}", f"{took.took:.1f}"
                table.add_row(
                    f"Spark, {way} to all{chosen}",
                    f"{counted:,}",
                    *seconds,
                    f"{of_core:,.0f}",
                    f"{of_core / rate:.2f}",
                )
    Console(width=120).print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
