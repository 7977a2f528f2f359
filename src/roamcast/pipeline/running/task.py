"""What a Spark task does with runs: have them simulated, keep their facts, say what became of each.

A run lives in a process of its own (`keeper`), so that limits hold whatever it does and killing anything
above leaves nothing behind. Short runs of our own routers share one at first, since a fork and the pages
that it copies take longer than they do; whatever does not end well there counts for nothing, and is done
again alone.
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
"The runner of real campaigns: module:function, of a Run and the folder that its facts go to."

_MOST_TRACEBACK = 1 << 18
"Characters of it that are kept: the last ones."


@dataclass(frozen=True)
class RunTask:
    """One run to do, where to keep it, and what it may use."""

    run: PlannedRun
    staged: str
    seconds: float
    memory: float
    runner: str = SIMULATOR
    shares: bool = False
    "Whether it may share a process with other runs (`Router.shares_process`)."
    preload: tuple[str, ...] = ()
    "Installed protocols of the campaign, imported once for all runs of a worker."
    file: RouterFile | None = None
    "The file of its router, if that is in none of the installed packages."

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
    """The runner `module:function`, imported, with all that is imported by now out of the collector's sight.

    A run's process that collects garbage would copy every page of what never dies. A protocol to `preload`
    that cannot be imported is left to the runs that need it, which fail with the reason.
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
    """Do the run; its manifest, which is on disk too unless the disk is full."""
    work = _work_folder(task)
    began = monotonic()
    try:
        outcome = _attempt(task, work)
        return _stage(task, work, outcome | {"wall": monotonic() - began})
    finally:
        shutil.rmtree(work, ignore_errors=True)


def execute_all(tasks: Iterable[RunTask], again: bool = False) -> Iterator[dict[str, Any]]:
    """Do the runs one after the other, until the disk is full; when tried `again`, those not yet staged."""
    asked = list(tasks)
    ended: dict[str, dict[str, Any]] = {}
    for task in asked if again else ():
        staged = Staging(task.staged).read_manifest(task.run.id)
        if staged is not None and staged["status"] == "done":
            ended[task.run.id] = staged
    sharing = [task for task in asked if task.shares and task.run.id not in ended]
    if len(sharing) > 1:
        ended |= _execute_together(sharing)
    for task in asked:
        outcome = ended.get(task.run.id) or execute(task)
        yield outcome
        if outcome["status"] == "disk full":
            break


def _execute_together(tasks: Sequence[RunTask]) -> dict[str, dict[str, Any]]:
    """Do the runs in one process; the manifests of those that were done, which are on disk too."""
    first = tasks[0]
    works = [_work_folder(task) for task in tasks]
    try:
        work = partial(_run_all, tasks, works)
        told = supervisor_of(first.runner, first.preload).run(work, first.seconds, first.memory)
        return {
            task.run.id: _stage(task, folder, outcome)
            for task, folder, outcome in zip(tasks, works, told["said"], strict=False)
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
    """Stage what the run wrote, and its manifest, unless the disk is full."""
    manifest = outcome | {"run": task.run.id, "version": task.run.version}
    told = manifest.pop("traceback", "")
    try:
        if manifest["status"] != "disk full":
            Staging(task.staged).stage(work, manifest, told)
    except OSError as error:
        return {"run": task.run.id, "files": {}, **_explain(error)}
    return manifest


def _attempt(task: RunTask, work: Path) -> dict[str, Any]:
    """Have the run done; if it is killed from outside, once more."""
    again = ""
    while True:
        shutil.rmtree(work, ignore_errors=True)
        try:
            told = supervisor_of(task.runner, task.preload).run(
                partial(_run_all, [task], [work]), task.seconds, task.memory
            )
        except SupervisorDied:
            told = {"said": [], "died": signal.SIGKILL}
        for said in told["said"]:
            outcome: dict[str, Any] = said
            return outcome
        if "limit" in told:
            took = f"took longer than its limit of {task.seconds:g} s"
            return _failed(took if told["limit"] == "time" else "used more memory than its limit")
        number = told["died"]
        if number not in FROM_OUTSIDE or again:
            how = (
                f"was killed by {signal.Signals(number).name}"
                if number
                else f"ended with code {told['code']}"
            )
            likely = "; the machine may be out of memory" if number == signal.SIGKILL else ""
            return _failed(f"its process {how}{again}{likely}")
        again = ", twice"


def _run_all(tasks: Iterable[RunTask], works: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """What a process of runs does, and says after each."""
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
    """This process's keeper, which has what `runner` and the protocols to `preload` need imported already."""
    kept = _supervisors()
    found = kept.get(os.getpid())  # a fork must not talk to its parent's
    if found is None or found.ended:
        kept.clear()
        # Spark's worker collects garbage after every task: over all that is imported, that took 40 ms.
        gc.collect()
        gc.freeze()
        found = kept[os.getpid()] = RunSupervisor(partial(find_runner, runner, preload))
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
    told = f"{type(error).__name__}: {' '.join(str(error).split())[:400]}{where}"
    return _failed(told) | {"traceback": whole}


def _failed(error: str) -> dict[str, Any]:
    return {"status": "failed", "error": error, "files": {}, "rows": None, "cpu": None, "memory": None}
