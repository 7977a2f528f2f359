"""Staging: where a task puts what a run wrote, before it is committed.

    staged/run=ID/TABLE.parquet, run.json   what the run wrote
    staged/run=ID/facts.pack                the same of a short run (`roamcast.facts.pack`)
    staged/run=ID/manifest.json             written last: done or failed, and the digest of every file
    staged/run=ID/traceback.txt             of a run that failed

Names depend on the run alone, and the same run writes the same bytes: a task that Spark tries twice changes
nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from roamcast.lake.storage import StorageUrl

MANIFEST = "manifest.json"
TRACEBACK = "traceback.txt"
_LOOKERS = 8
"Threads that read manifests: most of it is waiting, where the store is far."


class Staging:
    """The staged runs of a campaign."""

    def __init__(self, place: StorageUrl | str) -> None:
        self.place = StorageUrl(place)

    def run_folder(self, run: str) -> StorageUrl:
        """Where a run is staged."""
        return self.place / f"run={run}"

    def work_folder(self, run: str) -> Path:
        """Where a task may let the run write: on the same disk if that is ours, else on one of its own."""
        if self.place.local is not None:
            return self.place.local / f".work-{run}-{os.getpid()}"
        return Path(tempfile.gettempdir()) / f"roamcast-work-{run}-{os.getpid()}"

    def stage(self, work: Path, manifest: dict[str, Any], traceback: str = "") -> None:
        """Stage what is in `work` as `manifest` tells, and the manifest last."""
        folder = self.run_folder(manifest["run"])
        if manifest["status"] == "done" and not _rename(work, folder):
            folder.make_folder()
            for name in manifest["files"]:
                if folder.local is not None:
                    (work / name).replace(folder.local / name)
                else:
                    _upload(work / name, folder / name)
        self.write_manifest(manifest, traceback)

    def write_manifest(self, manifest: Mapping[str, Any], traceback: str = "") -> None:
        """Say what became of a run; a failure never hides that it was done."""
        folder = self.run_folder(manifest["run"])
        if (
            manifest["status"] != "done"
            and (self.read_manifest(manifest["run"]) or {}).get("status") == "done"
        ):
            return
        folder.make_folder()
        if traceback:
            (folder / TRACEBACK).write(traceback.encode(errors="backslashreplace"))
        else:
            (folder / TRACEBACK).remove()
        # Not synced, as the files are not: if the power is lost, their digests tell what is.
        (folder / MANIFEST).write(json.dumps(dict(manifest), sort_keys=True).encode(), synced=False)

    def read_manifest(self, run: str) -> dict[str, Any] | None:
        """The manifest of a run; None if it has none, one that says `damaged` if it cannot be understood."""
        damaged = {"run": run, "status": "damaged", "error": "its manifest cannot be read", "files": {}}
        try:
            manifest = json.loads((self.run_folder(run) / MANIFEST).read())
            if manifest["status"] not in ("done", "failed") or not isinstance(manifest["files"], dict):
                return damaged
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return damaged
        found: dict[str, Any] = manifest
        return found

    def survey(self) -> dict[str, dict[str, Any]]:
        """The manifests of all staged runs, whole or damaged, and of those that failed."""
        runs = [name[4:] for name, found in self.place.list().items() if name.startswith("run=")]
        with ThreadPoolExecutor(_LOOKERS) as pool:
            looked = zip(runs, pool.map(self.read_manifest, runs), strict=True)
            return {run: manifest for run, manifest in looked if manifest is not None}

    def remove(self, run: str) -> None:
        """Forget a staged run; its manifest goes first, so that half of it never looks whole."""
        folder = self.run_folder(run)
        (folder / MANIFEST).remove()
        folder.remove()

    def tidy(self) -> None:
        """Remove what killed tasks left of unfinished runs; only where a lock says that nobody is at work."""
        if self.place.local is None:
            return
        for left in self.place.local.glob(".work-*"):
            shutil.rmtree(left, ignore_errors=True)
        for folder in self.place.local.glob("run=*"):
            if not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)


def digest(file: Path | StorageUrl) -> str:
    """The digest of a file's bytes."""
    with StorageUrl(file).open() as content:
        return digest_open(content)


def digest_open(content: pa.NativeFile) -> str:
    """The same of a file that is open."""
    hashed = hashlib.blake2b(digest_size=16)
    while (piece := content.read_buffer(1 << 22)).size:
        hashed.update(piece)
    return hashed.hexdigest()


def _rename(work: Path, folder: StorageUrl) -> bool:
    """Let the folder `work` itself be the staged one; False if there is one already, or on another store."""
    if folder.local is None:
        return False
    try:
        work.rename(folder.local)
    except OSError:
        return False
    return True


def _upload(file: Path, place: StorageUrl) -> None:
    system, path = place.file_system
    with file.open("rb") as source, system.open_output_stream(path) as sink:
        shutil.copyfileobj(source, sink, 1 << 22)
