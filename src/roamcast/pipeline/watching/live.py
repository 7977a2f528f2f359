"""Watching a live network: metrics of what its nodes have written so far, while they run.

A Structured Streaming query follows the segments of all nodes and tables. After each batch the metrics that
campaigns have are computed anew and written to `DIR/watch/metrics.parquet`, a row per metric.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.errors import UserError
from roamcast.facts.live.network import read_live
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.lock import hold
from roamcast.pipeline.spark.errors import format_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

WATCH_FOLDER = "watch"
_TRIGGER = "2 seconds"
_POLL_INTERVAL = 0.5
"Interval between checks of the query [s]."
_SEGMENTS = "path string, modificationTime timestamp, length long, content binary"

LIVE_METRICS = pa.schema(
    [
        ("network", pa.string()),
        ("protocol", pa.string()),
        ("time", pa.float64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)
"The table of a watched network: time [s] since the first node started."


class LiveWatcher:
    """Watches the folder into which live nodes write facts."""

    def __init__(self, folder: Path, publish: Callable[[LiveWatcher], object] = lambda _: None) -> None:
        self.folder = folder
        self.publish = publish
        self.segments = 0
        "Segments that were read."
        self.facts: Facts | None = None
        self.metrics: dict[str, float | None] = {}
        self._trouble: UserError | None = None

    @property
    def place(self) -> Path:
        """The folder of the results."""
        return self.folder / WATCH_FOLDER

    def watch(self, spark: SparkSession, *, once: bool = False, stop: Event | None = None) -> None:
        """Update the metrics until `stop` is set; with `once`, until all segments of now are read."""
        from roamcast.lake.storage import StorageUrl

        self.place.mkdir(exist_ok=True)
        with hold(StorageUrl(str(self.place)), "watching this network"), format_error("watching"):
            trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": _TRIGGER}
            query = (
                follow_segments(spark, self.folder)
                .writeStream.foreachBatch(self._process_batch)
                .option("checkpointLocation", (self.place / "checkpoint").absolute().as_uri())
                .trigger(**trigger)
                .start()
            )
            try:
                self._follow(query, stop or Event())
            finally:
                query.stop()
        if not self.metrics:
            self.refresh()

    def refresh(self) -> None:
        """Compute the metrics of all facts so far."""
        self.facts = read_live(self.folder)
        self.metrics = dict(evaluate(metric_input(self.facts)))
        run = self.facts.run
        values = [(name, float(value)) for name, value in self.metrics.items() if value is not None]
        columns: dict[str, Any] = {
            "network": [run.scenario] * len(values),
            "protocol": [run.protocol] * len(values),
            "time": [run.duration] * len(values),
            "metric": [name for name, _ in values],
            "value": [value for _, value in values],
        }
        hidden = self.place / ".metrics.parquet"
        self.place.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns, schema=LIVE_METRICS), hidden)
        hidden.replace(self.place / "metrics.parquet")
        self.publish(self)

    def _process_batch(self, arrived: DataFrame, number: int) -> None:
        """Process a batch of segments; Spark may repeat it."""
        count = arrived.count()
        if not count:
            return
        self.segments += count
        try:
            self.refresh()
        except UserError as error:
            self._trouble = error
            raise

    def _follow(self, query: StreamingQuery, stop: Event) -> None:
        while query.isActive and not stop.wait(_POLL_INTERVAL):
            pass
        if self._trouble is not None:
            raise self._trouble
        if (error := query.exception()) is not None:
            raise error


def follow_segments(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the stream of the segments that nodes write: a row for each file, without its content."""
    for table in TABLES:
        (folder / table).mkdir(exist_ok=True)
    tables = "{" + ",".join(TABLES) + "}"
    return (
        spark.readStream.format("binaryFile")
        .schema(_SEGMENTS)
        .load(f"{folder.absolute().as_uri()}/{tables}/")
        .select("path", "length")
    )
