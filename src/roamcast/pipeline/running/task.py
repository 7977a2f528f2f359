"""The runs of a Spark task: simulate them, stage their facts, and return their manifests.

Each run has its own process under a supervisor (`supervisor`), which enforces the limits. Short runs of
routers that allow it share a process, because a fork costs more than they do; a run that fails there is
repeated in its own process.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import shutil
import signal
import socket
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import monotonic
from typing import Any

from roamcast.campaign.plan import PlannedRun
from roamcast.campaign.version import code_version
from roamcast.errors import UserError
from roamcast.facts.pack import PACK, count_rows
from roamcast.lake.staging import Staging, digest
from roamcast.pipeline.running.supervisor import FROM_OUTSIDE, RunSupervisor, SupervisorDied
from roamcast.routing import catalogue
from roamcast.routing.router_file import RouterFile
from roamcast.sim.failure import RouterFailed

SIMULATOR = "roamcast.pipeline.running.runner:simulate_run"
"The default runner, as module:function; it takes a `PlannedRun` and the folder for its facts."

_MOST_TRACEBACK = 1 << 18
"Maximum length of a stored traceback [characters]; the end is kept."


@dataclass(frozen=True, slots=True)
class RunTask:
    """A run, the folder where its facts are staged, and its limits."""

    run: PlannedRun
    staged: str
    seconds: float
    memory: float
    runner: str = SIMULATOR
    shares: bool = False
    "Whether the run may share a process with others (`Router.shares_process`)."
    preload: tuple[str, ...] = ()
    "Installed protocols of the campaign, imported once for all runs of a worker."
    file: RouterFile | None = None
    "The file of the router, if it is not part of an installed package."

    def find_router(self) -> None:
        """Register the router of the task's run in this process."""
        if self.file is not None:
            catalogue.add(self.file.name, self.file)


def describe_router(name: str) -> dict[str, Any]:
    """Return the task's description of a router: whether its runs share a process, and its file."""
    shares = bool(vars(catalogue.find(name)).get("shares_process", False))
    return {"shares": shares, "file": catalogue.file_of(name)}


def check_version(run: PlannedRun) -> None:
    """Raise RuntimeError if the router of `run` has other code here than where the run was planned."""
    if (found := code_version(run.router)) != run.version:
        raise RuntimeError(
            f"an executor on {socket.gethostname()} has version {found} for the protocol {run.router!r}, "
            f"the driver {run.version}; install the same wheel on every worker"
        )


@cache
def find_runner(path: str, preload: tuple[str, ...] = ()) -> Any:
    """Import and return the runner `module:function`; exclude all imported objects from garbage collection.

    Garbage collection in a forked run would write to, and so copy, every page that it inherited. A protocol
    of `preload` that cannot be imported is ignored here; the runs that need it fail with the reason.
    """
    module, _, name = path.partition(":")
    runner = getattr(importlib.import_module(module), name)
    for protocol in preload:
        with suppress(UserError):
            catalogue.find(protocol)
    gc.collect()
    gc.freeze()
    return runner


def execute(task: RunTask) -> dict[str, Any]:
    """Do the run, stage its facts and return its manifest; nothing is staged if the disk is full."""
    work = _work_folder(task)
    began = monotonic()
    try:
        outcome = _attempt(task, work)
        return _stage(task, work, outcome | {"wall": monotonic() - began})
    finally:
        shutil.rmtree(work, ignore_errors=True)


def execute_all(tasks: Iterable[RunTask], again: bool = False) -> Iterator[dict[str, Any]]:
    """Do the runs in order and yield their manifests; stop if the disk is full.

    In a repeated Spark task (`again`), runs that are already staged are not repeated.
    """
    tasks = list(tasks)
    ended: dict[str, dict[str, Any]] = {}
    for task in tasks if again else ():
        staged = Staging(task.staged).read_manifest(task.run.id)
        if staged is not None and staged["status"] == "done":
            ended[task.run.id] = staged
    sharing = [task for task in tasks if task.shares and task.run.id not in ended]
    if len(sharing) > 1:
        ended |= _execute_together(sharing)
    for task in tasks:
        outcome = ended.get(task.run.id) or execute(task)
        yield outcome
        if outcome["status"] == "disk full":
            break


def _execute_together(tasks: Sequence[RunTask]) -> dict[str, dict[str, Any]]:
    """Do the runs in one process; stage those that succeed and return their manifests by run."""
    first = tasks[0]
    works = [_work_folder(task) for task in tasks]
    try:
        work = partial(_run_all, tasks, works)
        result = supervisor_of(first.runner, first.preload).run(work, first.seconds, first.memory)
        return {
            task.run.id: _stage(task, folder, outcome)
            for task, folder, outcome in zip(tasks, works, result["reports"], strict=False)
            if outcome["status"] == "done"
        }
    except SupervisorDied:
        return {}
    finally:
        for folder in works:
            shutil.rmtree(folder, ignore_errors=True)


def _work_folder(task: RunTask) -> Path:
    return Staging(task.staged).work_folder(task.run.id)


def _stage(task: RunTask, work: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    """Stage the files of a run and its manifest, unless the disk is full; return the manifest."""
    manifest = outcome | {"run": task.run.id, "version": task.run.version}
    stack = manifest.pop("traceback", "")
    try:
        if manifest["status"] != "disk full":
            Staging(task.staged).stage(work, manifest, stack)
    except OSError as error:
        return {"run": task.run.id, "files": {}, **_explain(error)}
    return manifest


def _attempt(task: RunTask, work: Path) -> dict[str, Any]:
    """Do the run and return its outcome; repeat it once if a signal from outside killed it."""
    again = ""
    while True:
        shutil.rmtree(work, ignore_errors=True)
        try:
            result = supervisor_of(task.runner, task.preload).run(
                partial(_run_all, [task], [work]), task.seconds, task.memory
            )
        except SupervisorDied:
            result = {"reports": [], "died": signal.SIGKILL}
        for report in result["reports"]:
            outcome: dict[str, Any] = report
            return outcome
        if "limit" in result:
            took = f"took longer than its limit of {task.seconds:g} s"
            return _failed(took if result["limit"] == "time" else "used more memory than its limit")
        number = result["died"]
        if number not in FROM_OUTSIDE or again:
            how = (
                f"was killed by {signal.Signals(number).name}"
                if number
                else f"ended with code {result['code']}"
            )
            likely = "; the machine may be out of memory" if number == signal.SIGKILL else ""
            return _failed(f"its process {how}{again}{likely}")
        again = ", twice"


def _run_all(tasks: Iterable[RunTask], works: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Do the runs in this process and yield the outcome of each, with its wall time [s]."""
    for task, work in zip(tasks, works, strict=True):
        began = monotonic()
        try:
            work.mkdir(parents=True, exist_ok=True)
            task.find_router()
            find_runner(task.runner, task.preload)(task.run, work)
            files = {file.name: _describe(file) for file in sorted(work.iterdir())}
            rows = sum(file["rows"] for file in files.values())
            outcome = {"status": "done", "error": "", "files": files, "rows": rows}
        except BaseException as error:
            outcome = {"files": {}, **_explain(error)}
        yield outcome | {"wall": monotonic() - began}
        if outcome["status"] == "disk full":
            break


@cache
def _supervisors() -> dict[int, RunSupervisor]:
    return {}


def supervisor_of(runner: str, preload: tuple[str, ...] = ()) -> RunSupervisor:
    """Return this process's supervisor, which imports `runner` and the protocols `preload` when it starts."""
    running = _supervisors()
    found = running.get(os.getpid())  # a forked process must not use the supervisor of its parent
    if found is None or found.ended:
        running.clear()
        # Spark's worker collects garbage after every task: over all imported objects, that took 40 ms.
        gc.collect()
        gc.freeze()
        found = running[os.getpid()] = RunSupervisor(partial(find_runner, runner, preload))
    return found


def _describe(file: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    rows = 0
    if file.name == PACK:
        rows = count_rows(file)
    elif file.suffix == ".parquet":
        rows = pq.read_metadata(file).num_rows
    return {"size": file.stat().st_size, "digest": digest(file), "rows": rows}


def _explain(error: BaseException) -> dict[str, Any]:
    if any(os.strerror(full) in str(error) for full in (errno.ENOSPC, errno.EDQUOT)):
        return {"status": "disk full", "error": str(error)}
    if isinstance(error, MemoryError):
        return _failed("used more memory than its limit")
    whole = "".join(traceback.format_exception(error))[-_MOST_TRACEBACK:]
    if isinstance(error, RouterFailed):
        return _failed(str(error)) | {"traceback": whole}
    place = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(place[-1].filename).name}:{place[-1].lineno})" if place else ""
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:400]}{where}"
    return _failed(text) | {"traceback": whole}


def _failed(error: str) -> dict[str, Any]:
    return {"status": "failed", "error": error, "files": {}, "rows": None, "cpu": None, "memory": None}
