"""The log of commits: numbered entries that say which batches of runs count.

    facts/_log/00000007.json              an entry: batches added, batches removed
    facts/_log/checkpoint-00000007.json   what all entries up to this one come to

What is in the log is committed; a file that is not is nothing. An entry is created under the next number and
never replaces one that is there, so of two drivers that commit at the same time one succeeds, and the other
reads on and tries again. Entries are never removed: a slow driver must not find its number free again.
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
"Entries; so many are read at most besides a checkpoint."

_ENTRY = re.compile(r"(checkpoint-)?(\d{8})\.json")


class LakeError(UserError):
    """Facts that cannot be read, or whose log contradicts itself."""


class TableFile(msgspec.Struct, frozen=True):
    """A file of one table of a batch."""

    size: int
    rows: int
    digest: str
    footer_size: int = 0
    "Bytes; pages have checksums of their own, the footer has none."
    footer: str = ""
    "Digest of the footer; empty if the file was written before there was one."


class CommittedRun(msgspec.Struct, frozen=True):
    """What a run took, and what it wrote."""

    rows: int
    size: int
    "Bytes of the files that it staged."
    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    version: str = ""


class Batch(msgspec.Struct, frozen=True):
    """Runs that were committed together: a file for each table, sorted by run; none where it has no rows."""

    name: str
    runs: dict[str, CommittedRun]
    files: dict[str, TableFile]

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files.values())


class Commit(msgspec.Struct, frozen=True):
    """One commit."""

    add: list[Batch] = []
    remove: list[str] = []

    @property
    def brings(self) -> list[str]:
        """The runs that it brings; one that puts batches in the place of others brings none."""
        return [] if self.remove else [run for batch in self.add for run in batch.runs]


class Snapshot(msgspec.Struct, frozen=True):
    """What counts after an entry of the log."""

    number: int = -1
    "Of the last entry."
    batches: dict[str, Batch] = {}

    def runs(self) -> dict[str, CommittedRun]:
        """Every run that is committed."""
        return {run: done for batch in self.batches.values() for run, done in batch.runs.items()}

    def after(self, entry: Commit) -> Snapshot:
        """What counts after one entry more, or `LakeError` if a run would be lost, doubled or unknown."""
        if unknown := set(entry.remove) - self.batches.keys():
            raise LakeError(f"the log removes the batch {min(unknown)}, which is not there")
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
    """The log in a folder."""

    def __init__(self, folder: StorageUrl) -> None:
        self.folder = folder

    def read(self, known: Snapshot | None = None) -> Snapshot:
        """What counts now; `known` is an earlier answer, from which it goes on.

        Checkpoints only save time: one that cannot be read is passed over, for an earlier one or the entries.
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
        """How many entries there are; their numbers are those below it."""
        found = (_ENTRY.fullmatch(name) for name in self.folder.list())
        return 1 + max((int(each[2]) for each in found if each and not each[1]), default=-1)

    def entry(self, number: int) -> Commit:
        """One commit, or `LakeError` if it cannot be read."""
        found: Commit = self._load(_entry(number), Commit)
        return found

    def append(self, snapshot: Snapshot, entry: Commit) -> Snapshot | None:
        """Commit `entry` on top of `snapshot`; what counts then, or None if another entry came before."""
        then = snapshot.after(entry)
        self.folder.make_folder()
        if not (self.folder / _entry(then.number)).create(msgspec.json.encode(entry)):
            return None
        if then.number % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
            (self.folder / _checkpoint(then.number)).write(msgspec.json.encode(then))
        return then

    def commit(self, change: Callable[[Snapshot], Commit | None], known: Snapshot | None = None) -> Snapshot:
        """Commit what `change` makes of what counts now, asked again whenever another came before.

        Nothing is committed if it answers None.
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
                f"{file}: cannot be read ({error}); without it nobody knows which facts count: restore it, "
                "or remove the campaign's folder and run it again"
            ) from None


def _entry(number: int) -> str:
    return f"{number:08d}.json"


def _checkpoint(number: int) -> str:
    return f"checkpoint-{number:08d}.json"
