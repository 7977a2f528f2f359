"""The valid facts of a campaign at one moment: batches of runs, their files, and changes of both."""

from __future__ import annotations

import msgspec

from roamcast.errors import UserError
from roamcast.lake.cells import RunCell


class LakeError(UserError):
    """Facts that cannot be read, or inconsistent tables."""


class TableFile(msgspec.Struct, frozen=True):
    """The file that contains a batch's rows of one table."""

    size: int
    rows: int
    digest: str
    footer_size: int = 0
    "Size of the footer [B]. Pages have their own checksums, the footer has none."
    footer: str = ""
    "Digest of the footer; empty if unknown."
    stats: str = ""
    "Number of rows, and minimum, maximum and number of nulls of each column, as JSON of a Delta log."


class CommittedRun(msgspec.Struct, frozen=True):
    """The resources that a run used, and the size of its facts."""

    rows: int
    size: int
    "Size of the staged files [B]."
    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    version: str = ""
    committed: float | None = None
    "Time of the first commit [s since 1970]; None if unknown."
    campaign: str | None = None
    protocol: str | None = None
    seed: int | None = None
    point: str | None = None

    @property
    def cell(self) -> RunCell:
        """The cell that the rows of the run carry."""
        return RunCell(self.campaign, self.protocol, self.seed, self.point)

    def at(self, cell: RunCell) -> CommittedRun:
        """Return the run with another cell."""
        return msgspec.structs.replace(self, **msgspec.structs.asdict(cell))


class Batch(msgspec.Struct, frozen=True):
    """Runs that were committed together, with a file, sorted by `sort_key`, for each table that has rows."""

    name: str
    runs: dict[str, CommittedRun]
    files: dict[str, TableFile]
    record: str = ""
    "Name of the file in the table `runs` that contains the batch's runs; empty before the commit."

    @property
    def size(self) -> int:
        """The size of all files of the batch [B]."""
        return sum(file.size for file in self.files.values())


class Commit(msgspec.Struct, frozen=True):
    """A change of the lake: batches added and removed."""

    add: list[Batch] = []
    remove: list[str] = []


class Snapshot(msgspec.Struct, frozen=True):
    """The valid batches after a commit."""

    number: int = -1
    "Version of the Delta table `runs`; -1 if there is no such table."
    batches: dict[str, Batch] = {}

    def runs(self) -> dict[str, CommittedRun]:
        """Return every committed run, by id."""
        return {run: done for batch in self.batches.values() for run, done in batch.runs.items()}

    def after(self, entry: Commit) -> Snapshot:
        """Return the snapshot after `entry`; raise `LakeError` for an unknown batch or a duplicate run."""
        if unknown := set(entry.remove) - self.batches.keys():
            raise LakeError(f"a commit removes the batch {min(unknown)}, which does not exist")
        kept = {name: batch for name, batch in self.batches.items() if name not in entry.remove}
        known = {run for batch in kept.values() for run in batch.runs}
        for batch in entry.add:
            if batch.name in kept:
                raise LakeError(f"a commit adds the batch {batch.name} twice")
            if known & batch.runs.keys():
                raise LakeError(f"a commit adds the run {min(known & batch.runs.keys())} twice")
            known |= batch.runs.keys()
            kept[batch.name] = batch
        return Snapshot(self.number + 1, kept)

    def keeps_runs(self, entry: Commit) -> bool:
        """Return whether `entry` adds every run that it removes."""
        added = {run for batch in entry.add for run in batch.runs}
        return all(self.batches[name].runs.keys() <= added for name in entry.remove)
