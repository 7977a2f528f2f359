"""A campaign's folder, on a disk or under a URL: what was asked, staged runs, facts, the pipeline's tables.

    DIR/campaign.json               what was asked, in its final shape
    DIR/staged/run=ID/              what a run wrote, until it is committed; what became of one that failed
    DIR/facts/_log/N.json           the commits: which files count (`roamcast.lake.log`)
    DIR/facts/TABLE/BATCH.parquet   the facts of many runs
    DIR/tables/TABLE.parquet        plan, points, runs, metrics, summary, differences, verdicts
    DIR/report.html
    DIR/watch/, DIR/watch.html      the same tables and the page as far as they are, by who watches

A run is done when the log has it. Everything appears under its name whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.lineage import (
    DEFINITIONS,
    MADE_FROM,
    OUTCOMES,
    PARTS,
    SOURCES,
    STATISTICS,
    digest_part,
    digest_rows,
    find_stale,
)
from roamcast.campaign.tables import TABLES
from roamcast.lake.batch import table_file
from roamcast.lake.columns import TABLES as LAKE_TABLES
from roamcast.lake.lake import FACTS_FOLDER, LOG_FOLDER, TABLES_FOLDER, Lake
from roamcast.lake.log import CommitLog, Snapshot
from roamcast.lake.staging import Staging, digest
from roamcast.lake.storage import StorageUnreachable, StorageUrl
from roamcast.metrics.definition import digest_definitions
from roamcast.pipeline.errors import CampaignFolderError
from roamcast.pipeline.lock import find_holder, hold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from roamcast.campaign.plan import CampaignPlan

DEFINED = b"roamcast.defined"
"The key in the metadata of the metrics' file: the digest of each metric's definition."

_OLD_RUNS = "runs"
"Where facts lay before they were tables."

_GRACE = 3600.0
"Seconds for which a file that no entry names may still become part of one, where no lock keeps others away."


@dataclass
class PlanStatus:
    """What a folder holds of a plan."""

    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    "Committed."
    staged: dict[str, dict[str, Any]] = field(default_factory=dict)
    "Simulated, and not yet committed."
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    "Runs that were done and no longer are, with what is wrong; they are missing too."


class CampaignFolder:
    """The folder of one campaign; its tables are in `tables`, below it."""

    def __init__(self, folder: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        self.folder = StorageUrl(folder)
        self.tables = tables
        self.facts = self.folder / FACTS_FOLDER
        self.staging = Staging(self.folder / "staged")
        self.log = CommitLog(self.facts / LOG_FOLDER)
        self._snapshot = Snapshot()
        self._superseded: tuple[Snapshot, list[str]] | None = None

    @property
    def staged(self) -> str:
        """Where tasks stage what runs wrote."""
        return str(self.staging.place)

    def create(self) -> None:
        """Make the folder, or raise `StoreError`."""
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

    def check_layout(self) -> None:
        """Raise `StoreError` if the folder's facts were kept before they were tables."""
        if self.folder.local is not None and any(self.folder.local.glob(f"{_OLD_RUNS}/run=*")):
            raise CampaignFolderError(
                f"{self.folder}: is of an older layout (facts in {_OLD_RUNS}/run=ID); "
                "run the campaign into another folder, or remove this one first"
            )

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other commands from writing here; a killed command's lock ends with it.

        Only a local disk has such locks. Elsewhere two commands may simulate the same run, and one of them
        commits it.
        """
        with hold(self.folder):
            yield

    def holder(self) -> int | None:
        """The process that is running this campaign now, if one is and that can be known."""
        return find_holder(self.folder)

    def snapshot(self) -> Snapshot:
        """What is committed now."""
        self._snapshot = self.log.read(self._snapshot)
        return self._snapshot

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

    def survey(self, runs: Iterable[str]) -> PlanStatus:
        """Which of `runs` are done, staged, failed or missing; files are looked for, none is read."""
        snapshot = self.snapshot()
        hurt = self.damaged_batches(snapshot)
        committed = {
            run: msgspec.to_builtins(done) | {"run": run, "status": "done", "error": ""}
            for run, done in snapshot.runs().items()
        }
        lost = {run: what for name, what in hurt.items() for run in snapshot.batches[name].runs}
        staged = self.staging.survey()
        found = PlanStatus()
        for run in runs:
            if run in committed and run not in lost:
                found.done[run] = committed[run]
                continue
            manifest = staged.get(run) or {"status": ""}
            if manifest["status"] == "done":
                found.staged[run] = manifest
            elif manifest["status"] == "failed":
                found.failed[run] = manifest
            else:
                found.missing.append(run)
                if manifest["status"] == "damaged":
                    found.damaged[run] = manifest["error"]
                elif run in lost:
                    found.damaged[run] = lost[run]
        return found

    def damaged_batches(self, snapshot: Snapshot) -> dict[str, str]:
        """The batches with a file that is gone or has another length, and what is wrong."""
        there = {table: (self.facts / table).list() for table in LAKE_TABLES} if snapshot.batches else {}
        hurt = {}
        for batch in snapshot.batches.values():
            for table, file in batch.files.items():
                name = f"{batch.name}.parquet"
                found = there[table].get(name)
                if found is None:
                    hurt[batch.name] = f"{table}/{name} is gone"
                elif found.size != file.size:
                    hurt[batch.name] = f"{table}/{name} has {found.size} bytes, not {file.size}"
        return hurt

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

    def read_campaign(self) -> tuple[Campaign, dict[str, Any]]:
        """What was asked, and the notes kept beside it."""
        file = self.folder / "campaign.json"
        try:
            kept = json.loads(file.read())
        except (FileNotFoundError, NotADirectoryError):
            raise CampaignFolderError(f"{self.folder}: no campaign was run here (no campaign.json)") from None
        except StorageUnreachable:
            raise
        except OSError as error:
            raise CampaignFolderError(f"{file}: cannot be read: {error.strerror or error}") from None
        except ValueError:
            raise CampaignFolderError(f"{file}: cannot be read; run the campaign again") from None
        return Campaign.model_validate(kept.pop("campaign")), kept

    def write_plan(self, plan: CampaignPlan) -> None:
        """Keep the plan."""
        for name, table in plan.tables().items():
            self.write_table(name, table)

    def table_file(self, name: str) -> StorageUrl:
        """Where a table of the pipeline is."""
        return self.folder / self.tables / f"{name}.parquet"

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

    def read_table(self, name: str) -> pa.Table:
        """A table of the pipeline."""
        file = self.table_file(name)
        if not file.exists():
            raise CampaignFolderError(f"{self.folder}: has no table {name!r} yet; run the campaign first")
        return _read(file, schema=TABLES[name])

    def frame(self, spark: SparkSession, name: str) -> DataFrame:
        """A table of the pipeline for Spark."""
        return Lake(self.folder, self.tables).frame(spark, name)

    def read_metrics(self) -> tuple[pa.Table, dict[str, str]]:
        """The metrics that are known, of whichever runs, and how each was defined; none if there are none."""
        try:
            known = _read(self.table_file("metrics"))
            defined: dict[str, str] = json.loads((known.schema.metadata or {}).get(DEFINED, b"{}"))
        except (OSError, ValueError, pa.ArrowException):
            return TABLES["metrics"].empty_table(), {}
        return known, defined

    def stale(self) -> frozenset[str]:
        """The tables that are missing, or were made from something else than what the folder holds now."""
        return find_stale(self._made_from, self._digest_source)

    def _made_from(self, table: str) -> dict[str, str]:
        try:
            with self.table_file(table).open() as file:
                told = pq.read_schema(file).metadata or {}
        except (OSError, pa.ArrowException):
            return {}
        made_from: dict[str, str] = json.loads(told.get(MADE_FROM, b"{}"))
        return made_from

    def _digest_source(self, source: str) -> str:
        """The digest of a part of the campaign, or of a table; empty if it is not there."""
        try:
            if source in PARTS:
                kept = json.loads((self.folder / "campaign.json").read())
                return digest_part(kept["campaign"], source)
            if source in OUTCOMES:
                columns = list(OUTCOMES[source])
                return digest_rows(_read(self.table_file(source), columns=columns).to_pylist())
            if source == STATISTICS:
                return digest_statistics()
            if source == DEFINITIONS:
                campaign, _ = self.read_campaign()
                return digest_rows(digest_definitions(campaign.measure))
            return digest(self.table_file(source))
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return ""


@cache
def digest_statistics() -> str:
    """The digest of the code that sums up over seeds and judges."""
    code = Path(__file__).parent / "measuring"
    names = ("intervals", "statistics", "summarise", "judge")
    return digest_rows([(code / f"{name}.py").read_text(encoding="utf-8") for name in names])


def _read(file: StorageUrl, **how: Any) -> pa.Table:
    with file.open() as content:
        return pq.read_table(content, page_checksum_verification=True, **how)
