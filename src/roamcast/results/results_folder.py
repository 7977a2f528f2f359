"""A campaign's folder for readers: what was asked, which runs are done, and the tables of results.

    DIR/campaign.json               what was asked, in its final shape
    DIR/staged/run=ID/              what a run wrote, until it is committed; what became of one that failed
    DIR/facts/runs/                 the Delta table of committed runs (`roamcast.lake.runs_table`)
    DIR/facts/TABLE/                a Delta table of facts; BATCH.parquet has those of many runs
    DIR/tables/TABLE.parquet        plan, points, runs, metrics, summary, differences, verdicts
    DIR/report.html
    DIR/watch/, DIR/watch.html      the same tables and the page as far as they are, by who watches

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
"Tells who holds a lock, on Linux; elsewhere nobody knows."

_OLD_RUNS = "runs"
"Where facts lay before they were tables."


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
    """The folder of one campaign, to be read; its tables are in `tables`, below it."""

    def __init__(self, folder: str | Path | StorageUrl, tables: str = TABLES_FOLDER) -> None:
        self.folder = StorageUrl(folder)
        self.tables = tables
        self.facts = self.folder / FACTS_FOLDER
        self.staging = Staging(self.folder / "staged")
        self.log = RunsTable(self.facts)
        self._snapshot = Snapshot()

    def check_layout(self) -> None:
        """Raise `CampaignFolderError` if the folder's facts were kept before they were tables."""
        if self.folder.local is not None and any(self.folder.local.glob(f"{_OLD_RUNS}/run=*")):
            raise CampaignFolderError(
                f"{self.folder}: is of an older layout (facts in {_OLD_RUNS}/run=ID); "
                "run the campaign into another folder, or remove this one first"
            )

    def holder(self) -> int | None:
        """The process that is running this campaign now, if one is and that can be known."""
        return find_holder(self.folder)

    def snapshot(self) -> Snapshot:
        """What is committed now."""
        self._snapshot = self.log.read(self._snapshot)
        return self._snapshot

    def survey(self, runs: Iterable[str]) -> PlanStatus:
        """Which of `runs` are done, staged, failed or missing; files are looked for, none is read."""
        snapshot = self.snapshot()
        hurt = self.damaged_batches(snapshot)
        committed = snapshot.runs()
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

    def table_file(self, name: str) -> StorageUrl:
        """Where a table of the pipeline is."""
        return self.folder / self.tables / f"{name}.parquet"

    def read_table(self, name: str) -> pa.Table:
        """A table of the pipeline."""
        file = self.table_file(name)
        if not file.exists():
            raise CampaignFolderError(f"{self.folder}: has no table {name!r} yet; run the campaign first")
        return read_parquet(file, schema=TABLES[name])

    def read_metrics(self) -> tuple[pa.Table, dict[str, str]]:
        """The metrics that are known, of whichever runs, and how each was defined; none if there are none."""
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
        """The tables that are missing, or were made from something else than what the folder holds now."""
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
        """The digest of a part of the campaign, or of a table; empty if it is not there."""
        try:
            if source in PARTS:
                kept = json.loads((self.folder / "campaign.json").read())
                return digest_part(kept["campaign"], source)
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
    """The digest of the code that sums up over seeds and judges."""
    measuring = Path(__file__).parents[1] / "pipeline" / "measuring"
    files = [Path(__file__).with_name("intervals.py")]
    files += [measuring / f"{name}.py" for name in ("statistics", "summarise", "judge")]
    return digest_rows([file.read_text(encoding="utf-8") for file in files])


def find_holder(folder: StorageUrl) -> int | None:
    """The process that holds the folder's lock now, if one does and that can be known."""
    try:
        kept = ((folder.local or Path("/dev/null")) / LOCK).stat()
        locks = Path(_LOCKS).read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    place = f"{os.major(kept.st_dev):02x}:{os.minor(kept.st_dev):02x}:{kept.st_ino}"
    fields = (line.split() for line in locks)
    return next((int(f[4]) for f in fields if f[1] == "FLOCK" and f[5] == place), None)


def read_parquet(file: StorageUrl, **how: Any) -> pa.Table:
    """Return the table in a Parquet file, its pages checked."""
    with file.open() as content:
        return pq.read_table(content, page_checksum_verification=True, **how)
