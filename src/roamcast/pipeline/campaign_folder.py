"""The writing half of a campaign folder, on a disk or under a URL.

`roamcast.results.results_folder` describes the layout. Files appear atomically.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.lineage import (
    MADE_FROM,
    SOURCES,
)
from roamcast.campaign.tables import TABLES
from roamcast.lake.batch import table_file
from roamcast.lake.columns import TABLES as LAKE_TABLES
from roamcast.lake.delta import remove_drafts
from roamcast.lake.lake import TABLES_FOLDER, Lake
from roamcast.lake.runs_table import RUNS_TABLE
from roamcast.lake.snapshot import Snapshot
from roamcast.lake.storage import StorageUnreachable, StorageUrl
from roamcast.pipeline.lock import hold
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import DEFINED, ResultsFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from roamcast.campaign.plan import CampaignPlan

_GRACE = 3600.0
"Minimum age of files that `tidy` removes from a remote store; a concurrent command may use younger ones [s]."

_ROWS = 10_000
"Number of rows of a table that are sorted and written at a time, so that no second copy is in memory."


class CampaignFolder(ResultsFolder):
    """The folder of one campaign, for the command that writes it."""

    def __init__(self, folder: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        super().__init__(folder, tables)
        self._superseded: tuple[Snapshot, list[str]] | None = None

    @property
    def staged(self) -> str:
        """The URL of the folder in which tasks stage runs."""
        return str(self.staging.place)

    def create(self) -> None:
        """Create the folder and its tables, or raise `CampaignFolderError`."""
        self.check_layout()
        try:
            for place in (self.folder, self.staging.place, self.facts, self.folder / self.tables):
                place.make_folder()
            self.folder.check_bucket()
            self.log.create()
        except StorageUnreachable:
            raise
        except OSError as error:
            what = error.strerror or str(error).splitlines()[0]
            raise CampaignFolderError(f"{self.folder}: cannot write a campaign here: {what}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Prevent other commands from writing here; the lock ends with the process.

        Only a local disk has such locks. On other stores two commands may simulate the same run, and one of
        them commits it.
        """
        with hold(self.folder):
            yield

    def tidy(self) -> int:
        """Remove what interrupted commits left; return the number of removed files of facts.

        Afterwards each table has the rows of the committed runs, each once, for any reader of Delta tables
        and, if no other command is writing, for any reader of Parquet files.
        """
        self.staging.tidy()
        self._remove_superseded()
        snapshot = self.snapshot()
        grace = 0.0 if self.folder.local is not None else _GRACE
        if snapshot.number >= 0:
            self.log.sync(snapshot, grace=grace)
        wanted = self._files(snapshot)
        removed = 0
        for table in (*LAKE_TABLES, RUNS_TABLE):
            for name, found in (self.facts / table).list().items():
                if not found.folder and (table, name) not in wanted and found.age >= grace:
                    (self.facts / table / name).remove()
                    removed += 1
            remove_drafts(self.facts / table)
        return removed

    def remove_batches(self, snapshot: Snapshot, names: Iterable[str]) -> None:
        """Delete the files of batches that a commit removed; `snapshot` is one from before that commit."""
        for name in names:
            for table in snapshot.batches[name].files:
                table_file(self.facts, table, name).remove()
            (self.facts / RUNS_TABLE / snapshot.batches[name].record).remove()

    def supersede(self, snapshot: Snapshot, names: list[str]) -> None:
        """Note batches that a commit has removed; `snapshot` is one from before that commit.

        Their files stay for concurrent readers until the next batches are superseded or until `tidy`.
        """
        self._remove_superseded()
        self._superseded = (snapshot, names)

    def _remove_superseded(self) -> None:
        if self._superseded is not None:
            self.remove_batches(*self._superseded)
            self._superseded = None

    @staticmethod
    def _files(snapshot: Snapshot) -> set[tuple[str, str]]:
        batches = snapshot.batches.values()
        facts = {(table, f"{batch.name}.parquet") for batch in batches for table in batch.files}
        return facts | {(RUNS_TABLE, batch.record) for batch in batches}

    def write_campaign(self, campaign: Campaign, **more: Any) -> None:
        """Write the campaign definition and `more` notes to campaign.json."""
        definition = campaign.model_dump(mode="json")
        if campaign.scenario is not None:
            definition["scenario"] = str(campaign.scenario.absolute())
        definition["scenarios"] = {name: str(file.absolute()) for name, file in campaign.scenarios.items()}
        (self.folder / "campaign.json").write(json.dumps({"campaign": definition, **more}, indent=1).encode())

    def write_plan(self, plan: CampaignPlan) -> None:
        """Write the tables of the plan."""
        for name, pieces in plan.tables().items():
            self.write_pieces(name, pieces)

    def write_table(self, name: str, table: pa.Table, defined: Mapping[str, str] | None = None) -> None:
        """Write a table of the pipeline, cast to its schema and sorted: equal rows give equal bytes.

        `defined` has the digest of each metric's definition.
        """
        self.write_pieces(name, [table], defined)

    def write_pieces(
        self, name: str, pieces: Iterable[pa.Table], defined: Mapping[str, str] | None = None
    ) -> None:
        """Write a table of the pipeline from pieces that are in order; each piece is sorted here."""
        schema = TABLES[name]
        keys = [(field.name, "ascending") for field in schema if not pa.types.is_floating(field.type)]
        made_from = {source: self._digest_source(source) for source in SOURCES.get(name, ())}
        metadata = {**(schema.metadata or {}), MADE_FROM: json.dumps(made_from).encode()}
        if defined is not None:
            metadata[DEFINED] = json.dumps(dict(defined)).encode()
        with (
            self.table_file(name).writing() as sink,
            pq.ParquetWriter(sink, schema.with_metadata(metadata), write_page_checksum=True) as writer,
        ):
            for piece in pieces:
                rows = piece.select(schema.names).cast(schema).replace_schema_metadata(metadata)
                order = pc.sort_indices(rows, keys)
                for start in range(0, max(len(rows), 1), _ROWS):
                    writer.write_table(rows.take(order[start : start + _ROWS]))
        return_memory()

    def frame(self, spark: SparkSession, name: str) -> DataFrame:
        """Return a table of the pipeline as a Spark DataFrame."""
        return Lake(self.folder, self.tables).frame(spark, name)


_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
"The function of glibc; other C libraries have none."


def return_memory() -> None:
    """Return the memory that Arrow and the C library hold although it was freed: a driver runs for hours."""
    pa.default_memory_pool().release_unused()
    if _TRIM is not None:
        _TRIM(0)
