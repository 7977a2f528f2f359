"""What a Spark task does with one run: simulate it in a child process, keep its facts, say what became of it.

The run lives in a child of the Python worker because a limit must hold whatever the run does: a loop in
the compiled kernel hears no Python exception, but no process survives SIGKILL. The child dies with its
worker, so that killing anything above leaves nothing behind.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from roamcast.lake.staging import Staging, digest
from roamcast.pipeline.plan import Run
from roamcast.sim.failure import RouterFailed

SIMULATOR = "roamcast.pipeline.runner:simulate_run"
"The runner of real campaigns: module:function, of a Run and the folder that its facts go to."

_MOST_TRACEBACK = 1 << 18
"Characters of it that are kept: the last ones."

_DIE_WITH_PARENT = 1
"PR_SET_PDEATHSIG of prctl."


@dataclass(frozen=True)
class Task:
    """One run to do, where to keep it, and what it may use."""

    run: Run
    staged: str
    seconds: float
    memory: float
    runner: str = SIMULATOR


@cache
def find_runner(path: str) -> Any:
    """The runner `module:function`, imported, with all that is imported by now out of the collector's sight.

    Spark's worker collects garbage after every task: over 80,000 objects that never die, this took 40 ms a
    task. A child that collects would moreover copy every page of them.
    """
    module, _, name = path.partition(":")
    runner = getattr(importlib.import_module(module), name)
    gc.collect()
    gc.freeze()
    return runner


def execute(task: Task) -> dict[str, Any]:
    """Do the run; its manifest, which is on disk too unless the disk is full."""
    staging = Staging(task.staged)
    work = staging.work_folder(task.run.id)
    began = monotonic()
    try:
        manifest = _supervise(task, work)
        manifest |= {"run": task.run.id, "wall": monotonic() - began, "version": task.run.version}
        if manifest["status"] != "disk full":
            staging.keep(work, manifest, manifest.pop("traceback", ""))
    except OSError as error:
        manifest = {"run": task.run.id, "files": {}, **_explain(error)}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return manifest


def _supervise(task: Task, work: Path) -> dict[str, Any]:
    """Run the child to its end or to its limit, whichever comes first."""
    runner = find_runner(task.runner)  # before the fork, so that every later child finds it imported
    ear, mouth = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(ear)
        _live(task, runner, work, mouth)
    os.close(mouth)
    said = b""
    deadline = monotonic() + task.seconds
    try:
        while (left := deadline - monotonic()) > 0:
            if not select.select([ear], [], [], min(left, 60.0))[0]:
                continue
            heard = os.read(ear, 65536)
            if not heard:
                break
            said += heard
        else:
            os.kill(child, signal.SIGKILL)
            return _failed(f"took longer than its limit of {task.seconds:g} s")
    finally:
        os.close(ear)
        _, status = os.waitpid(child, 0)
    try:
        told: dict[str, Any] = json.loads(said)
        return told
    except ValueError:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        how = f"was killed by {signal.Signals(number).name}" if number else f"ended with code {status >> 8}"
        likely = "; the machine may be out of memory" if number == signal.SIGKILL else ""
        return _failed(f"its process {how}{likely}")


def _live(task: Task, runner: Any, work: Path, mouth: int) -> NoReturn:
    """The child's whole life: limits, run, facts, one word to the parent; it never returns."""
    told: dict[str, Any]
    try:
        _restrain(task)
        work.mkdir(parents=True, exist_ok=True)
        runner(task.run, work)
        files = {file.name: _describe(file) for file in sorted(work.iterdir())}
        told = {"status": "done", "error": "", "files": files, "rows": sum(f["rows"] for f in files.values())}
    except BaseException as error:
        told = {"files": {}, **_explain(error)}
    with suppress(BaseException):
        used = resource.getrusage(resource.RUSAGE_SELF)
        told |= {"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024}
        words = json.dumps(told).encode()
        while words:
            words = words[os.write(mouth, words) :]
    os._exit(0)


def _restrain(task: Task) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    held = int(next(line.split()[1] for line in _status() if line.startswith("VmData"))) * 1024
    limit = held + int(task.memory)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _status() -> list[str]:
    return Path("/proc/self/status").read_text(encoding="ascii").splitlines()


def _describe(file: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    rows = pq.read_metadata(file).num_rows if file.suffix == ".parquet" else 0
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
