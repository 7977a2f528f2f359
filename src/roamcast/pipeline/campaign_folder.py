"""A campaign's folder, on a disk or under a URL, for the command that runs the campaign.

`roamcast.results.results_folder` has its layout. Everything appears under its name whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.lineage import (
    MADE_FROM,
    SOURCES,
)
from roamcast.campaign.tables import TABLES
from roamcast.lake.batch import table_file
from roamcast.lake.columns import TABLES as LAKE_TABLES
from roamcast.lake.lake import FACTS_FOLDER, LOG_FOLDER, TABLES_FOLDER, Lake
from roamcast.lake.log import Snapshot
from roamcast.lake.storage import StorageUnreachable, StorageUrl
from roamcast.pipeline.lock import hold
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import DEFINED, ResultsFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from roamcast.campaign.plan import CampaignPlan

_GRACE = 3600.0
"Seconds for which a file that no entry names may still become part of one, where no lock keeps others away."


class CampaignFolder(ResultsFolder):
    """The folder of one campaign, to be written."""

    def __init__(self, folder: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        super().__init__(folder, tables)
        self._superseded: tuple[Snapshot, list[str]] | None = None

    @property
    def staged(self) -> str:
        """Where tasks stage what runs wrote."""
        return str(self.staging.place)

    def create(self) -> None:
        """Make the folder, or raise `CampaignFolderError`."""
        self.check_layout()
        try:
            for place in (self.folder, self.staging.place, self.facts, self.folder / self.tables):
                place.make_folder()
            self.folder.check_bucket()
        except StorageUnreachable:
            raise
        except OSError as error:
            told = error.strerror or str(error).splitlines()[0]
            raise CampaignFolderError(f"{self.folder}: cannot keep a campaign here: {told}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other commands from writing here; a killed command's lock ends with it.

        Only a local disk has such locks. Elsewhere two commands may simulate the same run, and one of them
        commits it.
        """
        with hold(self.folder):
            yield

    def tidy(self) -> int:
        """Remove superseded files, drafts, and files that no entry of the log names; how many of the last.

        Afterwards the folder of each table holds the rows that count, each once, for any reader of Parquet.
        """
        self.staging.tidy()
        self._remove_superseded()
        wanted = self._files(self.snapshot())
        removed = 0
        for table in LAKE_TABLES:
            for name, found in (self.facts / table).list().items():
                if (table, name) not in wanted and (self.folder.local is not None or found.age > _GRACE):
                    (self.facts / table / name).remove()
                    removed += 1
        if self.folder.local is not None:
            for left in self.folder.local.glob(f"{FACTS_FOLDER}/{LOG_FOLDER}/.*"):
                left.unlink(missing_ok=True)
        return removed

    def remove_batches(self, snapshot: Snapshot, names: Iterable[str]) -> None:
        """Delete the files of batches that were taken out of the log; `snapshot` still has them."""
        for name in names:
            for table in snapshot.batches[name].files:
                table_file(self.facts, table, name).remove()

    def supersede(self, snapshot: Snapshot, names: list[str]) -> None:
        """Note batches that were taken out of the log; `snapshot` still has them.

        Their files stay for readers that began before, until the next batches are superseded or `tidy`.
        """
        self._remove_superseded()
        self._superseded = (snapshot, names)

    def _remove_superseded(self) -> None:
        if self._superseded is not None:
            self.remove_batches(*self._superseded)
            self._superseded = None

    @staticmethod
    def _files(snapshot: Snapshot) -> set[tuple[str, str]]:
        return {(t, f"{batch.name}.parquet") for batch in snapshot.batches.values() for t in batch.files}

    def write_campaign(self, campaign: Campaign, **more: Any) -> None:
        """Keep what was asked."""
        asked = campaign.model_dump(mode="json") | {"scenario": str(campaign.scenario.absolute())}
        (self.folder / "campaign.json").write(json.dumps({"campaign": asked, **more}, indent=1).encode())

    def write_plan(self, plan: CampaignPlan) -> None:
        """Keep the plan."""
        for name, table in plan.tables().items():
            self.write_table(name, table)

    def write_table(self, name: str, table: pa.Table, defined: Mapping[str, str] | None = None) -> None:
        """Keep a table of the pipeline, cast to its schema and sorted: the same rows give the same bytes.

        `defined` tells of metrics how they were defined.
        """
        schema = TABLES[name]
        keys = [(field.name, "ascending") for field in schema if not pa.types.is_floating(field.type)]
        made_from = {source: self._digest_source(source) for source in SOURCES[name]}
        told = {**(schema.metadata or {}), MADE_FROM: json.dumps(made_from).encode()}
        if defined is not None:
            told[DEFINED] = json.dumps(dict(defined)).encode()
        rows = table.select(schema.names).cast(schema).sort_by(keys)
        sink = pa.BufferOutputStream()
        pq.write_table(rows.replace_schema_metadata(told), sink, write_page_checksum=True)
        self.table_file(name).write(sink.getvalue().to_pybytes())

    def frame(self, spark: SparkSession, name: str) -> DataFrame:
        """A table of the pipeline for Spark."""
        return Lake(self.folder, self.tables).frame(spark, name)
