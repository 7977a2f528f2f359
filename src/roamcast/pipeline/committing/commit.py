"""Commits of staged runs to the lake, exactly once, each by a Spark job.

A commit writes the files of new batches, then changes the Delta tables, then removes the staged runs. If it
is killed before the change of the table `runs`, the runs are still staged; if it is killed afterwards, they
are committed and their staged files are removed by the next commit. Compaction and repair are commits that
replace batches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic, time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from roamcast.lake.batch import new_name, table_file
from roamcast.lake.cells import UNKNOWN, RunCell
from roamcast.lake.snapshot import Batch, Commit, CommittedRun, Snapshot, TableFile
from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder, return_memory
from roamcast.pipeline.committing.batch_tasks import (
    BatchTask,
    split_batches,
    spread_runs,
    spread_tables,
    write_batch_tables,
)
from roamcast.pipeline.committing.compaction import choose
from roamcast.pipeline.committing.damage import find_lost
from roamcast.pipeline.running.simulate import DiskFull
from roamcast.pipeline.spark.spread import spark_or_local, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OFTEN = 512
"Number of staged runs that starts a commit during the simulation."

_LONGEST = 30.0
"Time after which staged runs are committed [s]."

_FEW = 64
"Maximum number of short runs that are merged in this process instead of by a Spark job."

_PATIENCE = 2.0
"Time to wait for a running commit after an error [s]."


class Committer:
    """Commits staged runs, compacts batches and removes damaged runs."""

    def __init__(
        self,
        spark: SparkSession | None,
        store: CampaignFolder,
        cells: Mapping[str, RunCell] = MappingProxyType({}),
    ) -> None:
        self.spark = spark
        self.store = store
        self.cells = cells
        "The cells of planned runs, which the rows of their facts carry."

    def commit(self, staged: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Commit staged runs, given by manifests; remove damaged ones and return their problems."""
        waiting = dict(staged)
        damaged: dict[str, str] = {}
        while True:
            known = self.store.snapshot().runs()
            self._forget(run for run in waiting if run in known)
            waiting = {run: manifest for run, manifest in waiting.items() if run not in known}
            if not waiting:
                return damaged
            groups = [
                (new_name(), {run: dict(waiting[run]["files"]) for run in group})
                for group in split_batches(waiting, self.cells)
            ]
            tasks = [
                BatchTask(name, tables, runs, cells=_choose(self.cells, runs))
                for name, runs in groups
                for tables in spread_runs(runs)
            ]
            small = len(tasks) == 1 and len(waiting) <= _FEW
            files, wrong = self._join("committing facts", tasks, small)
            if wrong:
                known = self.store.snapshot().runs()  # another command may have committed missing files
                self._discard(tasks)
                self._forget(wrong)
                damaged |= {run: what for run, what in wrong.items() if run not in known}
                waiting = {run: manifest for run, manifest in waiting.items() if run not in wrong}
                continue
            add = [
                Batch(
                    name,
                    {run: _done(waiting[run]).at(self.cells.get(run, UNKNOWN)) for run in sorted(runs)},
                    files[name],
                )
                for name, runs in groups
            ]
            if self._append(Commit(add=add)):
                self._forget(waiting)
                return_memory()
                return damaged
            self._discard(tasks)

    def compact(self) -> int:
        """Merge small batches while there are enough; return by how many their number has decreased."""
        gone = 0
        while groups := choose(snapshot := self.store.snapshot()):
            gone += sum(map(len, groups)) - len(groups)
            if not self.rewrite(snapshot, groups, frozenset()):
                return 0
        return gone

    def drop(self, runs: frozenset[str]) -> None:
        """Remove runs from the lake by rewriting their batches."""
        while hit := [b for b in self.store.snapshot().batches.values() if not runs.isdisjoint(b.runs)]:
            self.rewrite(self.store.snapshot(), [[batch] for batch in hit], runs)

    def relabel(self) -> int:
        """Rewrite batches whose rows have an outdated point or label; return the number of such runs.

        An edited campaign file may change points and labels without changing the runs.
        """
        changed = 0
        while hit := [
            [batch] for batch in self.store.snapshot().batches.values() if self.count_relabelled([batch])
        ]:
            changed += self.count_relabelled(batch for [batch] in hit)
            self.rewrite(self.store.snapshot(), hit, frozenset())
        return changed

    def count_relabelled(self, batches: Iterable[Batch]) -> int:
        """Return the number of runs in `batches` whose rows have an outdated point or label."""
        runs = (each for batch in batches for each in batch.runs.items())
        return sum(run in self.cells and self.cells[run] != done.cell for run, done in runs)

    def repair(self, names: Sequence[str], surely: bool = False) -> dict[str, str]:
        """Remove the unreadable runs of the named batches; return the problem of each.

        With `surely`, each batch is known to be damaged: all its runs are removed if none is unreadable.
        """
        snapshot = self.store.snapshot()
        facts, batches = str(self.store.facts), [snapshot.batches[name] for name in names]
        lost_runs = spread(
            self.spark, "looking for damage", batches, lambda batch: find_lost(StorageUrl(facts), batch)
        )
        for batch, lost in zip(batches, lost_runs, strict=True):
            if surely and not lost:
                lost.update(dict.fromkeys(batch.runs, "a file with its rows does not match its digest"))
            if len(lost) == len(batch.runs):
                self._append(Commit(remove=[batch.name]))
                self.store.remove_batches(snapshot, [batch.name])
            elif lost:
                self.drop(frozenset(lost))
        return {run: what for lost in lost_runs for run, what in lost.items()}

    @contextmanager
    def commit_meanwhile(self, tell: Callable[[str], object]) -> Iterator[None]:
        """Commit staged runs in a thread while the block runs; afterwards raise the thread's error."""
        ended = threading.Event()
        errors: list[BaseException] = []

        def work() -> None:
            with suppress(Exception):  # Spark Connect has no pools
                assert self.spark is not None
                self.spark.sparkContext.setLocalProperty("spark.scheduler.pool", "commit")
            last, seen = monotonic(), 0
            try:
                while not ended.wait(0.5):
                    names = self.store.staging.place.list()
                    if len(names) - seen < _OFTEN and (monotonic() - last < _LONGEST or len(names) <= seen):
                        continue
                    found = self.store.staging.survey()
                    ready = {run: each for run, each in found.items() if each["status"] == "done"}
                    if ready:
                        for run, what in self.commit(ready).items():
                            tell(f"{run} was damaged before it was committed: {what}")
                        self.compact()
                    seen = sum(each["status"] != "done" for each in found.values())
                    last = monotonic()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work, name="commit", daemon=True)
        thread.start()
        try:
            yield
        except BaseException:
            ended.set()
            thread.join(_PATIENCE)  # it may wait for a session that has ended
            raise
        ended.set()
        thread.join()
        if errors:
            raise errors[0]

    def rewrite(self, snapshot: Snapshot, groups: list[list[Batch]], drop: frozenset[str]) -> bool:
        """Replace each group by one batch; return False if another command has changed them."""
        names = [new_name() for _ in groups]
        kept = [
            {
                run: done.at(self.cells.get(run, done.cell))
                for batch in group
                for run, done in sorted(batch.runs.items())
                if run not in drop
            }
            for group in groups
        ]
        tasks = [
            BatchTask(
                name,
                tables,
                {},
                tuple(Batch(b.name, {}, b.files) for b in group),
                drop,
                {run: done.cell for run, done in runs.items()},
            )
            for name, group, runs in zip(names, groups, kept, strict=True)
            for tables in spread_tables(sum(batch.size for batch in group))
        ]
        files, _ = self._join("joining small files", tasks)
        add = [Batch(name, runs, files[name]) for name, runs in zip(names, kept, strict=True) if runs]
        removed = [batch.name for group in groups for batch in group]
        if not self._append(Commit(add=add, remove=removed)):
            self._discard(tasks)
            return False
        self.store.supersede(snapshot, removed)
        return True

    def _join(
        self, doing: str, tasks: list[BatchTask], small: bool = False
    ) -> tuple[dict[str, dict[str, TableFile]], dict[str, str]]:
        staged, facts = self.store.staged, str(self.store.facts)
        files: dict[str, dict[str, TableFile]] = {task.name: {} for task in tasks}
        wrong: dict[str, str] = {}
        spark = spark_or_local(self.spark, small)
        results = spread(spark, doing, tasks, lambda task: write_batch_tables(staged, facts, task))
        for task, result in zip(tasks, results, strict=True):
            if result.full:
                self._discard(tasks)
                raise DiskFull(
                    f"{self.store.folder}: the disk is full ({result.full}); make room and run again"
                )
            files[task.name] |= result.files
            wrong |= result.damaged
        return files, wrong

    def _append(self, entry: Commit) -> bool:
        """Commit an entry; return False if its batches are gone or its runs are committed already."""
        adds = {run for batch in entry.add for run in batch.runs}
        done = False

        def change(snapshot: Snapshot) -> Commit | None:
            nonlocal done
            kept = [batch for name, batch in snapshot.batches.items() if name not in entry.remove]
            free = not any(adds & batch.runs.keys() for batch in kept)
            done = free and snapshot.batches.keys() >= set(entry.remove)
            return entry if done else None

        self.store.log.commit(change, self.store.snapshot())
        return done

    def _forget(self, runs: Iterable[str]) -> None:
        remove = self.store.staging.remove
        if self.store.folder.local is None:
            self.store.staging.place.each(remove, list(runs))
        else:  # threads would only wait for each other
            for run in list(runs):
                remove(run)

    def _discard(self, tasks: Sequence[BatchTask]) -> None:
        for task in tasks:
            for table in task.tables:
                table_file(self.store.facts, table, task.name).remove()


def _choose(cells: Mapping[str, RunCell], runs: Iterable[str]) -> dict[str, RunCell]:
    return {run: cells[run] for run in runs if run in cells}


def _done(manifest: Mapping[str, Any]) -> CommittedRun:
    return CommittedRun(
        rows=manifest["rows"],
        size=sum(file["size"] for file in manifest["files"].values()),
        wall=manifest.get("wall"),
        cpu=manifest.get("cpu"),
        memory=manifest.get("memory"),
        version=manifest.get("version", ""),
        committed=time(),
    )
