"""A campaign's folder: facts by run, a manifest that says a run is done, and the pipeline's tables.

    DIR/campaign.json               what was asked, in its final shape
    DIR/runs/run=ID/TABLE.parquet   a run's facts
    DIR/runs/run=ID/manifest.json   written last: done or failed, and the digest of every file
    DIR/tables/TABLE.parquet        plan, points, runs, metrics, summary, differences, verdicts
    DIR/report.html

A run is done when its manifest says so and its files are what the manifest says. Everything appears under
its name by renaming, so that nobody ever sees half a file unless the disk itself lost it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.errors import UserError
from roamcast.pipeline.campaign import Campaign
from roamcast.pipeline.lineage import (
    MADE_FROM,
    OUTCOMES,
    PARTS,
    SOURCES,
    digest_part,
    digest_rows,
    find_stale,
)
from roamcast.pipeline.tables import TABLES

if TYPE_CHECKING:
    from roamcast.pipeline.plan import Plan

_MANIFEST = "manifest.json"


class StoreError(UserError):
    """A campaign's folder that cannot be used as asked."""


@dataclass
class Survey:
    """What a folder holds of a plan."""

    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    "Runs that were done and no longer are, with what is wrong; they are missing too."


class Store:
    """The folder of one campaign."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.runs = self.folder / "runs"

    def create(self) -> None:
        """Make the folder, or raise `StoreError`."""
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            (self.folder / "tables").mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.folder}: cannot keep a campaign here: {error.strerror}") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other commands from writing here; a killed command's lock ends with it."""
        with (self.folder / ".lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                other = file.read().strip() or "another process"
                raise StoreError(f"{self.folder}: process {other} is running this campaign") from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield

    def holder(self) -> int | None:
        """The process that is running this campaign now, if one is."""
        try:
            kept = (self.folder / ".lock").stat()
            locks = Path("/proc/locks").read_text(encoding="ascii").splitlines()
        except OSError:
            return None
        place = f"{os.major(kept.st_dev):02x}:{os.minor(kept.st_dev):02x}:{kept.st_ino}"
        fields = (line.split() for line in locks)
        return next((int(f[4]) for f in fields if f[1] == "FLOCK" and f[5] == place), None)

    def run_folder(self, run: str) -> Path:
        """Where the facts of `run` are."""
        return self.runs / f"run={run}"

    def tidy(self) -> None:
        """Remove what killed tasks left of unfinished runs."""
        for left in self.runs.glob(".work-*"):
            shutil.rmtree(left, ignore_errors=True)

    def survey(self, runs: Iterable[str], verify: bool = True) -> Survey:
        """Which of `runs` are done, failed or missing; `verify` reads and compares every fact file."""
        found = Survey()
        runs = list(runs)
        with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
            for run, (manifest, damage) in zip(
                runs, pool.map(lambda r: self._look(r, verify), runs), strict=True
            ):
                if manifest is not None and not damage:
                    (found.done if manifest["status"] == "done" else found.failed)[run] = manifest
                    continue
                found.missing.append(run)
                if damage:
                    found.damaged[run] = damage
        return found

    def _look(self, run: str, verify: bool) -> tuple[dict[str, Any] | None, str]:
        folder = self.run_folder(run)
        try:
            manifest = json.loads((folder / _MANIFEST).read_bytes())
            status, files = manifest["status"], manifest["files"]
        except FileNotFoundError:
            return None, ""
        except (ValueError, KeyError, TypeError):
            return None, "its manifest cannot be read"
        if status not in ("done", "failed"):
            return None, f"its manifest says {status!r}"
        damage = next(
            filter(None, (_damage(folder / name, told, verify) for name, told in files.items())), ""
        )
        return (None, damage) if damage else (manifest, "")

    def write_campaign(self, campaign: Campaign, **more: Any) -> None:
        """Keep what was asked."""
        asked = campaign.model_dump(mode="json") | {"scenario": str(campaign.scenario.absolute())}
        replace_file(
            self.folder / "campaign.json", json.dumps({"campaign": asked, **more}, indent=1).encode()
        )

    def read_campaign(self) -> tuple[Campaign, dict[str, Any]]:
        """What was asked, and the notes kept beside it."""
        file = self.folder / "campaign.json"
        try:
            kept = json.loads(file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(f"{self.folder}: no campaign was run here (no campaign.json)") from None
        except OSError as error:
            raise StoreError(f"{file}: cannot be read: {error.strerror}") from None
        except ValueError:
            raise StoreError(f"{file}: cannot be read; run the campaign again") from None
        return Campaign.model_validate(kept.pop("campaign")), kept

    def write_plan(self, plan: Plan) -> None:
        """Keep the plan."""
        for name, table in plan.tables().items():
            self.write_table(name, table)

    def table_file(self, name: str) -> Path:
        """Where a table of the pipeline is."""
        return self.folder / "tables" / f"{name}.parquet"

    def write_table(self, name: str, table: pa.Table) -> None:
        """Keep a table of the pipeline, cast to its schema and sorted: the same rows give the same bytes."""
        schema = TABLES[name]
        keys = [(field.name, "ascending") for field in schema if not pa.types.is_floating(field.type)]
        made_from = {source: self._digest_source(source) for source in SOURCES[name]}
        told = {**(schema.metadata or {}), MADE_FROM: json.dumps(made_from).encode()}
        rows = table.select(schema.names).cast(schema).sort_by(keys)
        sink = pa.BufferOutputStream()
        pq.write_table(rows.replace_schema_metadata(told), sink)
        replace_file(self.table_file(name), sink.getvalue().to_pybytes())

    def read_table(self, name: str) -> pa.Table:
        """A table of the pipeline."""
        file = self.table_file(name)
        if not file.is_file():
            raise StoreError(f"{self.folder}: has no table {name!r} yet; run the campaign first")
        return pq.read_table(file, schema=TABLES[name])

    def stale(self) -> frozenset[str]:
        """The tables that are missing, or were made from something else than what the folder holds now."""
        return find_stale(self._made_from, self._digest_source)

    def _made_from(self, table: str) -> dict[str, str]:
        try:
            told = pq.read_schema(self.table_file(table)).metadata or {}
        except (OSError, pa.ArrowException):
            return {}
        made_from: dict[str, str] = json.loads(told.get(MADE_FROM, b"{}"))
        return made_from

    def _digest_source(self, source: str) -> str:
        """The digest of a part of the campaign, or of a table; empty if it is not there."""
        try:
            if source in PARTS:
                kept = json.loads((self.folder / "campaign.json").read_bytes())
                return digest_part(kept["campaign"], source)
            if source in OUTCOMES:
                return digest_rows(
                    pq.read_table(self.table_file(source), columns=list(OUTCOMES[source])).to_pylist()
                )
            return digest(self.table_file(source))
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return ""


def _damage(file: Path, told: dict[str, Any], verify: bool) -> str:
    """What is wrong with a file of facts; empty if nothing is."""
    if not file.is_file():
        return f"{file.name} is gone"
    if file.stat().st_size != told["size"]:
        return f"{file.name} has {file.stat().st_size} bytes, not {told['size']}"
    if verify and digest(file) != told["digest"]:
        return f"{file.name} is not what was written"
    return ""


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Say what became of the run in `folder`; a failure never hides that it was done."""
    if manifest["status"] != "done":
        with suppress(OSError, ValueError, KeyError):
            if json.loads((folder / _MANIFEST).read_bytes())["status"] == "done":
                return
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / _MANIFEST, json.dumps(manifest, sort_keys=True).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` at once or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def digest(file: Path) -> str:
    """The digest of a file's bytes."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
