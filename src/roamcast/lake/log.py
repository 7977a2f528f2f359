"""The commit log: numbered commits that determine the valid batches of runs.

    facts/_log/00000007.json              a commit: batches added, batches removed
    facts/_log/checkpoint-00000007.json   the snapshot after this commit

Only files of batches in the log are valid. A commit is created under the next number and never replaces an
existing one: if two drivers commit at the same time, one succeeds, and the other reads the new commit and
tries again. Commits are never removed, because a slow driver could reuse the number of a removed one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from roamcast.errors import UserError
from roamcast.lake.storage import StorageUrl

CHECKPOINT_EVERY = 16
"Number of commits between two checkpoints."

_ENTRY = re.compile(r"(checkpoint-)?(\d{8})\.json")


class LakeError(UserError):
    """Facts that cannot be read, or an inconsistent commit log."""


class TableFile(msgspec.Struct, frozen=True):
    """The file that contains a batch's rows of one table."""

    size: int
    rows: int
    digest: str
    footer_size: int = 0
    "Size of the footer [B]. Pages have their own checksums, the footer has none."
    footer: str = ""
    "Digest of the footer; empty for files of versions without footer digests."


class CommittedRun(msgspec.Struct, frozen=True):
    """The resources that a run used, and the size of its facts."""

    rows: int
    size: int
    "Size of the staged files [B]."
    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    version: str = ""


class Batch(msgspec.Struct, frozen=True):
    """Runs that were committed together, with a file, sorted by run, for each table that has rows."""

    name: str
    runs: dict[str, CommittedRun]
    files: dict[str, TableFile]

    @property
    def size(self) -> int:
        """The size of all files of the batch [B]."""
        return sum(file.size for file in self.files.values())


class Commit(msgspec.Struct, frozen=True):
    """One entry of the log: batches added and removed."""

    add: list[Batch] = []
    remove: list[str] = []

    @property
    def brings(self) -> list[str]:
        """The runs that the commit adds; none if it replaces batches."""
        return [] if self.remove else [run for batch in self.add for run in batch.runs]


class Snapshot(msgspec.Struct, frozen=True):
    """The valid batches after a commit."""

    number: int = -1
    "Number of the last commit; -1 if there is none."
    batches: dict[str, Batch] = {}

    def runs(self) -> dict[str, CommittedRun]:
        """Return every committed run, by id."""
        return {run: done for batch in self.batches.values() for run, done in batch.runs.items()}

    def after(self, entry: Commit) -> Snapshot:
        """Return the snapshot after `entry`; raise `LakeError` for an unknown batch or a duplicate run."""
        if unknown := set(entry.remove) - self.batches.keys():
            raise LakeError(f"the log removes the batch {min(unknown)}, which does not exist")
        kept = {name: batch for name, batch in self.batches.items() if name not in entry.remove}
        known = {run for batch in kept.values() for run in batch.runs}
        for batch in entry.add:
            if batch.name in kept:
                raise LakeError(f"the log adds the batch {batch.name} twice")
            if known & batch.runs.keys():
                raise LakeError(f"the log has the run {min(known & batch.runs.keys())} twice")
            known |= batch.runs.keys()
            kept[batch.name] = batch
        return Snapshot(self.number + 1, kept)


class CommitLog:
    """The commit log in a folder."""

    def __init__(self, folder: StorageUrl) -> None:
        self.folder = folder

    def read(self, known: Snapshot | None = None) -> Snapshot:
        """Return the current snapshot, starting from the earlier snapshot `known` if it is given.

        An unreadable checkpoint is ignored in favour of an earlier one or of the commits themselves.
        """
        names = [found for name in self.folder.list() if (found := _ENTRY.fullmatch(name))]
        entries = {int(found[2]) for found in names if not found[1]}
        last = max(entries, default=-1)
        snapshot = known if known is not None and known.number <= last else Snapshot()
        saved = {int(found[2]) for found in names if found[1]}
        for number in sorted((each for each in saved if snapshot.number < each <= last), reverse=True):
            with suppress(LakeError):
                snapshot = self._load(_checkpoint(number), Snapshot)
                break
        while snapshot.number < last:
            snapshot = snapshot.after(self.entry(snapshot.number + 1))
        return snapshot

    def length(self) -> int:
        """Return the number of commits; they are numbered from 0."""
        found = (_ENTRY.fullmatch(name) for name in self.folder.list())
        return 1 + max((int(each[2]) for each in found if each and not each[1]), default=-1)

    def entry(self, number: int) -> Commit:
        """Return one commit, or raise `LakeError` if it cannot be read."""
        found: Commit = self._load(_entry(number), Commit)
        return found

    def append(self, snapshot: Snapshot, entry: Commit) -> Snapshot | None:
        """Append `entry` after `snapshot`; return the new snapshot, or None if another commit came first."""
        then = snapshot.after(entry)
        self.folder.make_folder()
        if not (self.folder / _entry(then.number)).create(msgspec.json.encode(entry)):
            return None
        if then.number % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
            (self.folder / _checkpoint(then.number)).write(msgspec.json.encode(then))
        return then

    def commit(self, change: Callable[[Snapshot], Commit | None], known: Snapshot | None = None) -> Snapshot:
        """Commit the result of `change` for the current snapshot; return the new snapshot.

        After a concurrent commit, `change` is called again. Nothing is committed if it returns None.
        """
        snapshot = self.read(known)
        while (entry := change(snapshot)) is not None:
            then = self.append(snapshot, entry)
            if then is not None:
                return then
            snapshot = self.read(snapshot)
        return snapshot

    def _load(self, name: str, kind: Any) -> Any:
        file = self.folder / name
        try:
            return msgspec.json.decode(file.read(), type=kind)
        except (OSError, ValueError) as error:
            raise LakeError(
                f"{file}: cannot be read ({error}); without it the valid facts are unknown: restore it, "
                "or remove the campaign folder and run the campaign again"
            ) from None


def _entry(number: int) -> str:
    return f"{number:08d}.json"


def _checkpoint(number: int) -> str:
    return f"checkpoint-{number:08d}.json"
