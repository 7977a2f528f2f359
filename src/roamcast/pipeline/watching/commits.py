"""The commits of a lake as a stream of Spark: a row for each run that a commit brings.

The log is a folder of numbered files that never change, and that is what Spark's file source follows. Where
Spark itself cannot read, a source of our own does (`format("roamcast.commits")`) through `roamcast.lake`; its
offset is the number of an entry. Either way the checkpoint knows what was heard, and a batch that is tried
again has the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from roamcast.lake.lake import FACTS_FOLDER, LOG_FOLDER
from roamcast.lake.log import CommitLog, LakeError
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "roamcast.commits"
BROUGHT = pa.schema([("entry", pa.int64()), ("run", pa.string())])

_ENTRY = "add array<struct<runs: map<string, struct<rows: long>>>>, remove array<string>"
"Of an entry, what tells which runs it brings (as `roamcast.lake.log.Entry.brings`)."

_FOR_EVER = "36500d"
"Spark would otherwise pass over a commit that is a week older than the latest."

_NEXT = "entry"
"The key of an offset: the number of the first entry that was not read."


class CommitStream(DataSource):  # type: ignore[misc]
    """The source; its option `path` is the campaign's folder."""

    @classmethod
    def name(cls) -> str:
        """What it is asked for by."""
        return FORMAT

    def schema(self) -> str:
        """The columns: the number of a commit, and a run that it brings."""
        return "entry long, run string"

    def streamReader(self, schema: object) -> CommitReader:
        """Follows the log."""
        return CommitReader(self.options["path"])


class CommitReader(DataSourceStreamReader):  # type: ignore[misc]
    """Reads the entries of a log, each once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def initialOffset(self) -> dict[str, int]:
        """Before the first entry."""
        return {_NEXT: 0}

    def latestOffset(self, start: dict[str, int], limit: object) -> dict[str, int]:
        """After the last entry that there is now."""
        length = self._log().length()
        if length < start[_NEXT]:
            raise LakeError(f"{self.folder}: its log is shorter than it was; watch again")
        return {_NEXT: length}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Entries are small: one task reads them."""
        return [InputPartition((start[_NEXT], end[_NEXT]))] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The runs that these entries bring."""
        log = self._log()
        for number in range(*partition.value):
            rows = [{"entry": number, "run": run} for run in log.entry(number).brings]
            if rows:
                yield pa.RecordBatch.from_pylist(rows, BROUGHT)

    def _log(self) -> CommitLog:
        return CommitLog(StorageUrl(self.folder) / FACTS_FOLDER / LOG_FOLDER)


def follow(spark: SparkSession, folder: StorageUrl) -> DataFrame:
    """The commits in a campaign's folder, now and as they come."""
    if folder.scheme == "s3":  # what Spark needs for S3 is in no package of PyPI
        spark.dataSource.register(CommitStream)
        return spark.readStream.format(FORMAT).load(str(folder))
    from pyspark.sql import functions as f

    log = folder / FACTS_FOLDER / LOG_FOLDER
    log.make_folder()
    entries = (
        spark.readStream.schema(_ENTRY)
        .option("pathGlobFilter", "[0-9]*.json")
        .option("maxFileAge", _FOR_EVER)
        .json(log.local.as_uri() if log.local is not None else str(log))
    )
    number = f.regexp_extract(f.col("_metadata.file_name"), r"(\d+)", 1).cast("long")
    brings = entries.where(f.size("remove") == 0).select(
        number.alias("entry"), f.explode("add").alias("batch")
    )
    return brings.select("entry", f.explode(f.map_keys("batch.runs")).alias("run"))
