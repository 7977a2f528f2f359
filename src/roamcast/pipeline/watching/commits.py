"""The commits of a lake as a Spark stream (`format("roamcast.commits")`): a row for each run that is added.

The offset is a version of the Delta table `runs`. A batch that Spark repeats has the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from roamcast.lake.lake import FACTS_FOLDER
from roamcast.lake.runs_table import RunsTable
from roamcast.lake.snapshot import LakeError
from roamcast.lake.storage import StorageUrl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "roamcast.commits"
BROUGHT = pa.schema([("entry", pa.int64()), ("run", pa.string())])

_NEXT = "entry"
"The key of an offset: the first version of the table `runs` that was not read."


class CommitStream(DataSource):  # type: ignore[misc]
    """The streaming data source; its option `path` is the campaign's folder."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns: the version of the table `runs`, and a run that it added."""
        return "entry long, run string"

    def streamReader(self, schema: object) -> CommitReader:
        """Return the reader of the stream."""
        return CommitReader(self.options["path"])


class CommitReader(DataSourceStreamReader):  # type: ignore[misc]
    """Reads each commit once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def initialOffset(self) -> dict[str, int]:
        """Return the offset before the first commit."""
        return {_NEXT: 0}

    def latestOffset(self, start: dict[str, int], limit: object) -> dict[str, int]:
        """Return the offset after the last commit."""
        length = self._runs_table().length()
        if length < start[_NEXT]:
            raise LakeError(f"{self.folder}: the facts were replaced; start the command again")
        return {_NEXT: length}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return one partition with all new commits, which are small."""
        return [InputPartition((start[_NEXT], end[_NEXT]))] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the runs that these commits added."""
        for number, runs in self._runs_table().brought(*partition.value).items():
            if runs:
                yield pa.RecordBatch.from_pylist([{"entry": number, "run": run} for run in runs], BROUGHT)

    def _runs_table(self) -> RunsTable:
        return RunsTable(StorageUrl(self.folder) / FACTS_FOLDER)


def follow(spark: SparkSession, folder: StorageUrl) -> DataFrame:
    """Return the stream of the runs that commits add to a campaign's folder."""
    spark.dataSource.register(CommitStream)
    return spark.readStream.format(FORMAT).load(str(folder))
