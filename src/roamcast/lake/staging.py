"""Staging: the storage of a run's files before they are committed.

    staged/run=ID/TABLE.parquet, run.json   the facts of the run
    staged/run=ID/facts.pack                the facts of a short run (`roamcast.facts.pack`)
    staged/run=ID/manifest.json             written last: done or failed, and the digest of every file
    staged/run=ID/traceback.txt             the traceback of a failed run

File names depend only on the run, and equal runs write equal bytes, so a task that Spark repeats changes
nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from roamcast.lake.storage import StorageUrl

MANIFEST = "manifest.json"
TRACEBACK = "traceback.txt"


class Staging:
    """The staged runs of a campaign."""

    def __init__(self, place: StorageUrl | str) -> None:
        self.place = StorageUrl(place)

    def run_folder(self, run: str) -> StorageUrl:
        """Return the folder in which a run is staged."""
        return self.place / f"run={run}"

    def work_folder(self, run: str) -> Path:
        """Return a local folder for the run's output: beside the staged runs if these are local."""
        if self.place.local is not None:
            return self.place.local / f".work-{run}-{os.getpid()}"
        return Path(tempfile.gettempdir()) / f"roamcast-work-{run}-{os.getpid()}"

    def stage(self, work: Path, manifest: dict[str, Any], traceback: str = "") -> None:
        """Stage the files in `work` that `manifest` lists, then write the manifest."""
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
        """Write the manifest of a run; a failure does not replace the manifest of a completed run."""
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
        # Not synced, like the files: after a power failure, the digests detect lost data.
        (folder / MANIFEST).write(json.dumps(dict(manifest), sort_keys=True).encode(), synced=False)

    def read_manifest(self, run: str) -> dict[str, Any] | None:
        """Return the manifest of a run; None without one, and status `damaged` if it cannot be parsed."""
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
        """Return the manifests of all runs that have one: done, failed or damaged."""
        runs = [name[4:] for name, found in self.place.list().items() if name.startswith("run=")]
        looked = zip(runs, self.place.each(self.read_manifest, runs), strict=True)
        return {run: manifest for run, manifest in looked if manifest is not None}

    def remove(self, run: str) -> None:
        """Remove a staged run; its manifest first, so that a partly removed run never looks complete."""
        folder = self.run_folder(run)
        (folder / MANIFEST).remove()
        folder.remove()

    def tidy(self) -> None:
        """Remove files of unfinished runs from a local folder; the caller must hold the campaign's lock."""
        if self.place.local is None:
            return
        for left in self.place.local.glob(".work-*"):
            shutil.rmtree(left, ignore_errors=True)
        for folder in self.place.local.glob("run=*"):
            if not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)


def digest(file: Path | StorageUrl) -> str:
    """Return the BLAKE2b digest of a file."""
    with StorageUrl(file).open() as content:
        return digest_open(content)


def digest_open(content: pa.NativeFile) -> str:
    """Return the BLAKE2b digest of an open file."""
    hashed = hashlib.blake2b(digest_size=16)
    while (piece := content.read_buffer(1 << 22)).size:
        hashed.update(piece)
    return hashed.hexdigest()


def _rename(work: Path, folder: StorageUrl) -> bool:
    """Rename the folder `work` to the staged folder; return False if that exists or is on another store."""
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
