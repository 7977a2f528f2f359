"""Short runs that this command simulates while the Spark session starts.

A local session takes seconds to start, and the processors would be idle. So processes are forked before the
JVM; each does what a Spark task does with a batch of runs. When the session is there, no further batch is
started, and Spark does the runs that are left.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.progress import size
from roamcast.pipeline.running.supervisor import die_with_parent
from roamcast.pipeline.running.task import RunTask, execute_all, supervisor_of
from roamcast.pipeline.running.task_batches import MOST_SIZE

_PATIENCE = 5.0
"Time to wait for an idle process to end [s]."


def choose_short(runs: Iterable[PlannedRun]) -> list[PlannedRun]:
    """Return the runs that are short enough to start early: the session waits for those that have begun."""
    return [run for run in runs if size(run) <= MOST_SIZE]


class EarlyRuns:
    """Batches of runs that `slots` processes do until `finish` is called.

    `report` gets the outcome of each run that ends; `then` is called if all runs end before `finish`. Both
    are called in another thread. Create it in the main thread before any other thread, because it forks.
    """

    def __init__(
        self,
        batches: Sequence[Sequence[RunTask]],
        slots: int,
        report: Callable[[Mapping[str, Any]], object] = lambda _: None,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        self._batches = list(reversed(batches))
        self._report, self._then = report, then
        self._over = threading.Event()
        self._ended: dict[str, str] = {}
        forking = multiprocessing.get_context("fork")
        self._workers: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []
        for _ in range(min(slots, len(batches))):
            ours, theirs = forking.Pipe()
            worker = forking.Process(target=_work, args=(theirs, os.getpid()), daemon=True)
            worker.start()
            theirs.close()
            self._workers.append((worker, ours))
        self._runs = {task.run.id for batch in batches for task in batch}
        self._thread = threading.Thread(target=self._serve, name="early runs", daemon=True)

    def __enter__(self) -> EarlyRuns:
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        """Kill the processes; runs that have not ended count as not done."""
        for worker, _ in self._workers:
            worker.kill()
        for worker, connection in self._workers:
            worker.join()
            connection.close()
        self._workers = []

    def finish(self) -> dict[str, str]:
        """Start no further batch, wait for those under way, and return the status of each run that ended."""
        self._over.set()
        self._thread.join()
        self._batches = []  # many runs may be left
        for _, connection in self._workers:
            with suppress(OSError):
                connection.send(None)
        for worker, _ in self._workers:
            worker.join(_PATIENCE)
        return self._ended

    def _serve(self) -> None:
        self._distribute()
        if self._workers and self._runs == self._ended.keys() and not self._over.is_set():
            self._then()

    def _distribute(self) -> None:
        idle = [connection for _, connection in self._workers]
        busy: list[Connection] = []
        while True:
            while idle and self._batches and not self._over.is_set():
                connection = idle.pop()
                with suppress(OSError):  # the process was killed
                    connection.send(self._batches.pop())
                    busy.append(connection)
            if not busy:
                return
            ready = wait(busy)
            for connection in [each for each in busy if each in ready]:
                try:
                    outcome = connection.recv()
                except (EOFError, OSError):  # the process was killed: Spark repeats its runs
                    busy.remove(connection)
                    continue
                if outcome is None:
                    busy.remove(connection)
                    idle.append(connection)
                elif outcome["status"] == "disk full":
                    self._over.set()  # Spark's first task reports it
                else:
                    self._ended[outcome["run"]] = outcome["status"]
                    self._report(outcome)


def _work(connection: Connection, parent: int) -> None:
    """Do batches of runs; send the outcome of each run, and None after each batch."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command that is interrupted ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(parent)
    with suppress(EOFError, OSError):
        while (batch := connection.recv()) is not None:
            supervisor_of(batch[0].runner, batch[0].preload)
            for outcome in execute_all(batch):
                connection.send({key: outcome.get(key) for key in ("run", "status", "wall", "error")})
            connection.send(None)
