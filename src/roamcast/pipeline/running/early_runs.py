"""Short runs that are done while Spark starts, by processes of this command.

A session on this machine takes seconds to come up, and its processors would wait for it. So processes are
forked before the JVM is, each of which does what a Spark task does with a portion of runs. As soon as the
session is there nothing more is handed out: what has not ended by then is Spark's.
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
"Seconds for a process that has nothing to do to end."


def choose_short(runs: Iterable[PlannedRun]) -> list[PlannedRun]:
    """Those that are worth beginning: a session must not wait long for what was begun before it."""
    return [run for run in runs if size(run) <= MOST_SIZE]


class EarlyRuns:
    """Has portions of runs done by `slots` processes until it is ended; what it began last is waited for.

    `hear` is told of each run that ends. If all do before it is ended, `then` is called. Both are called by
    another thread. To be made in the main thread, before any other is, since it forks.
    """

    def __init__(
        self,
        portions: Sequence[Sequence[RunTask]],
        slots: int,
        hear: Callable[[Mapping[str, Any]], object] = lambda _: None,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        self._portions = list(reversed(portions))
        self._hear, self._then = hear, then
        self._over = threading.Event()
        self._ended: dict[str, str] = {}
        forking = multiprocessing.get_context("fork")
        self._workers: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []
        for _ in range(min(slots, len(portions))):
            ours, theirs = forking.Pipe()
            worker = forking.Process(target=_work, args=(theirs, os.getpid()), daemon=True)
            worker.start()
            theirs.close()
            self._workers.append((worker, ours))
        self._left = {task.run.id for portion in portions for task in portion}
        self._thread = threading.Thread(target=self._live, name="head start", daemon=True)

    def __enter__(self) -> EarlyRuns:
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        """Nobody waits: what has not ended is not done."""
        for worker, _ in self._workers:
            worker.kill()
        for worker, connection in self._workers:
            worker.join()
            connection.close()
        self._workers = []

    def finish(self) -> dict[str, str]:
        """Hand out nothing more, and wait for what is under way; the status of each run that has ended."""
        self._over.set()
        self._thread.join()
        for _, connection in self._workers:
            with suppress(OSError):
                connection.send(None)
        for worker, _ in self._workers:
            worker.join(_PATIENCE)
        return self._ended

    def _live(self) -> None:
        self._hand_out()
        if self._workers and self._left == self._ended.keys() and not self._over.is_set():
            self._then()

    def _hand_out(self) -> None:
        idle = [connection for _, connection in self._workers]
        busy: list[Connection] = []
        while True:
            while idle and self._portions and not self._over.is_set():
                connection = idle.pop()
                with suppress(OSError):  # who is gone gets nothing
                    connection.send(self._portions.pop())
                    busy.append(connection)
            if not busy:
                return
            ready = wait(busy)
            for connection in [each for each in busy if each in ready]:
                try:
                    told = connection.recv()
                except (EOFError, OSError):  # it was killed: Spark will do what it had
                    busy.remove(connection)
                    continue
                if told is None:
                    busy.remove(connection)
                    idle.append(connection)
                elif told["status"] == "disk full":
                    self._over.set()  # Spark's first task will tell
                else:
                    self._ended[told["run"]] = told["status"]
                    self._hear(told)


def _work(connection: Connection, parent: int) -> None:
    """The whole life of a process: portions of runs, and a word after each run and each portion."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever is interrupted ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(parent)
    with suppress(EOFError, OSError):
        while (portion := connection.recv()) is not None:
            supervisor_of(portion[0].runner, portion[0].preload)
            for outcome in execute_all(portion):
                connection.send({key: outcome.get(key) for key in ("run", "status", "wall", "error")})
            connection.send(None)
