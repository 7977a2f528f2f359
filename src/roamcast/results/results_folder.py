"""The folder of a campaign for readers: its definition, the status of its runs, and its tables of results.

    DIR/campaign.json               the definition of the campaign, with all options applied
    DIR/staged/run=ID/              the facts of a run until they are committed; the error of a failed run
    DIR/facts/runs/                 the Delta table of committed runs (`roamcast.lake.runs_table`)
    DIR/facts/TABLE/                a Delta table of facts; BATCH.parquet has those of many runs
    DIR/tables/TABLE.parquet        plan, points, runs, metrics, summary, differences, verdicts
    DIR/report.html
    DIR/watch/, DIR/watch.html      tables and page of the runs committed so far, by `campaign watch`

A run is done when the Delta table `runs` has it. `roamcast.pipeline.campaign_folder` writes all this.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.lineage import (
    DEFINITIONS,
    MADE_FROM,
    OUTCOMES,
    PARTS,
    STATISTICS,
    digest_part,
    digest_rows,
    find_stale,
)
from roamcast.campaign.tables import TABLES
from roamcast.lake.columns import TABLES as LAKE_TABLES
from roamcast.lake.lake import FACTS_FOLDER, TABLES_FOLDER
from roamcast.lake.runs_table import RunsTable
from roamcast.lake.snapshot import CommittedRun, Snapshot
from roamcast.lake.staging import Staging, digest
from roamcast.lake.storage import StorageUnreachable, StorageUrl
from roamcast.metrics.definition import digest_definitions
from roamcast.results.errors import CampaignFolderError

DEFINED = b"roamcast.defined"
"The key in the metadata of the metrics' file: the digest of each metric's definition."

LOCK = ".lock"

_LOCKS = "/proc/locks"
"The holders of locks, on Linux; elsewhere the holder is unknown."

_OLD_RUNS = "runs"
"The folder of the facts in the first layout, which had no tables."


@dataclass
class PlanStatus:
    """The progress of a plan: which of its runs a folder contains."""

    done: dict[str, CommittedRun] = field(default_factory=dict)
    "Committed."
    staged: dict[str, dict[str, Any]] = field(default_factory=dict)
    "Simulated, and not yet committed."
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    "Runs that were done and no longer are, with what is wrong; they are missing too."


class ResultsFolder:
    """The folder of one campaign, for reading; its tables are in the subfolder `tables`."""

    def __init__(self, folder: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        self.folder = StorageUrl(folder)
        self.tables = tables
        self.facts = self.folder / FACTS_FOLDER
        self.staging = Staging(self.folder / "staged")
        self.log = RunsTable(self.facts)
        self._snapshot = Snapshot()

    def check_layout(self) -> None:
        """Raise `CampaignFolderError` if the folder has the first layout, without tables of facts."""
        if self.folder.local is not None and any(self.folder.local.glob(f"{_OLD_RUNS}/run=*")):
            raise CampaignFolderError(
                f"{self.folder}: is of an older layout (facts in {_OLD_RUNS}/run=ID); "
                "run the campaign into another folder, or remove this one first"
            )

    def holder(self) -> int | None:
        """Return the id of the process that is running this campaign; None if none is known."""
        return find_holder(self.folder)

    def snapshot(self) -> Snapshot:
        """Read and return the current snapshot of the facts."""
        self._snapshot = self.log.read(self._snapshot)
        return self._snapshot

    def survey(self, runs: Iterable[str]) -> PlanStatus:
        """Return which of `runs` are done, staged, failed or missing; files of facts are not read."""
        snapshot = self.snapshot()
        damaged = self.damaged_batches(snapshot)
        committed = snapshot.runs()
        lost = {run: what for name, what in damaged.items() for run in snapshot.batches[name].runs}
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
        """Return the problem of each batch that has a missing file or one of another length."""
        there = {table: (self.facts / table).list() for table in LAKE_TABLES} if snapshot.batches else {}
        damaged = {}
        for batch in snapshot.batches.values():
            for table, file in batch.files.items():
                name = f"{batch.name}.parquet"
                found = there[table].get(name)
                if found is None:
                    damaged[batch.name] = f"{table}/{name} is gone"
                elif found.size != file.size:
                    damaged[batch.name] = f"{table}/{name} has {found.size} bytes, not {file.size}"
        return damaged

    def read_campaign(self) -> tuple[Campaign, dict[str, Any]]:
        """Return the definition of the campaign, and the notes in its file."""
        file = self.folder / "campaign.json"
        try:
            content = json.loads(file.read())
        except (FileNotFoundError, NotADirectoryError):
            raise CampaignFolderError(f"{self.folder}: no campaign was run here (no campaign.json)") from None
        except StorageUnreachable:
            raise
        except OSError as error:
            raise CampaignFolderError(f"{file}: cannot be read: {error.strerror or error}") from None
        except ValueError:
            raise CampaignFolderError(f"{file}: cannot be read; run the campaign again") from None
        return Campaign.model_validate(content.pop("campaign")), content

    def table_file(self, name: str) -> StorageUrl:
        """Return the file of a table of the pipeline."""
        return self.folder / self.tables / f"{name}.parquet"

    def read_table(self, name: str) -> pa.Table:
        """Return a table of the pipeline, or raise `CampaignFolderError`."""
        file = self.table_file(name)
        if not file.exists():
            raise CampaignFolderError(f"{self.folder}: has no table {name!r} yet; run the campaign first")
        return read_parquet(file, schema=TABLES[name])

    def read_metrics(self) -> tuple[pa.Table, dict[str, str]]:
        """Return the table of metrics and the digest of each definition; empty if there is none."""
        try:
            known = read_parquet(self.table_file("metrics"))
            defined: dict[str, str] = json.loads((known.schema.metadata or {}).get(DEFINED, b"{}"))
        except (OSError, ValueError, pa.ArrowException):
            return TABLES["metrics"].empty_table(), {}
        return known, defined

    def read_lineage(self) -> dict[str, str]:
        """Return the version of the code that measured each run; empty if there is no table of lineage."""
        try:
            known = read_parquet(self.table_file("lineage"), columns=["run", "measured_by"])
        except (OSError, ValueError, pa.ArrowException):
            return {}
        return dict(zip(known["run"].to_pylist(), known["measured_by"].to_pylist(), strict=True))

    def stale(self) -> frozenset[str]:
        """Return the tables that are missing or whose sources have changed since they were written."""
        return find_stale(self._made_from, self._digest_source)

    def _made_from(self, table: str) -> dict[str, str]:
        try:
            with self.table_file(table).open() as file:
                metadata = pq.read_schema(file).metadata or {}
        except (OSError, pa.ArrowException):
            return {}
        made_from: dict[str, str] = json.loads(metadata.get(MADE_FROM, b"{}"))
        return made_from

    def _digest_source(self, source: str) -> str:
        """Return the digest of a part of the campaign or of a table; empty if it does not exist."""
        try:
            if source in PARTS:
                content = json.loads((self.folder / "campaign.json").read())
                return digest_part(content["campaign"], source)
            if source in OUTCOMES:
                columns = list(OUTCOMES[source])
                return digest_rows(read_parquet(self.table_file(source), columns=columns).to_pylist())
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
    """Return the digest of the code that summarises over seeds and judges claims."""
    measuring = Path(__file__).parents[1] / "pipeline" / "measuring"
    files = [Path(__file__).with_name("intervals.py")]
    files += [measuring / f"{name}.py" for name in ("statistics", "summarise", "judge")]
    return digest_rows([file.read_text(encoding="utf-8") for file in files])


def find_holder(folder: StorageUrl) -> int | None:
    """Return the id of the process that holds the folder's lock; None if none is known."""
    try:
        lock = ((folder.local or Path("/dev/null")) / LOCK).stat()
        locks = Path(_LOCKS).read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    place = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
    fields = (line.split() for line in locks)
    return next((int(f[4]) for f in fields if f[1] == "FLOCK" and f[5] == place), None)


def read_parquet(file: StorageUrl, **how: Any) -> pa.Table:
    """Return the table in a Parquet file; page checksums are verified."""
    with file.open() as content:
        return pq.read_table(content, page_checksum_verification=True, **how)
