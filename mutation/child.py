"""One pytest in a process of its own, forked from one that has imported heavy libraries but not roamcast."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mutation.hook import sitecustomize
from mutation.swap import Imported

MEMORY = 6 * 2**30
"Bytes of data that tests may take: a mutant may well collect without end."
WAITING = 10.0
"Times its processor time that a child may take on the clock, on a busy machine."


HEAVY = (
    *("hypothesis.strategies", "lxml.etree", "matplotlib.figure", "msgspec", "networkx", "numpy", "pandas"),
    *(
        "pyarrow.parquet",
        "pydantic",
        "pyspark.sql",
        "rich.console",
        "rich.table",
        "scipy.stats",
        "sklearn.cluster",
    ),
    *("typer", "xmlschema"),
)
"Libraries that take long to import."


def warm_up() -> None:
    """Import once what takes long, and nothing of roamcast."""
    for name in HEAVY:
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.partition(".")[0] == "roamcast"]
    gc.freeze()


class Chosen:
    """Keeps the tests that were chosen, in that order; remembers those that fail."""

    def __init__(self, tests: list[str], told: Path) -> None:
        self.rank = {test: place for place, test in enumerate(tests)}
        self.told = told

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what was not chosen."""
        items[:] = sorted((item for item in items if item.nodeid in self.rank), key=self._place)

    def _place(self, item: Any) -> int:
        return self.rank[item.nodeid]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            with self.told.open("a") as out:
                out.write(f"{report.nodeid}\n")


class Tracing:
    """Notes of each test how long it took and which blocks it ran, its children's included.

    All files are traced in one process; `done` is told of each, with what was noted of its tests.
    """

    def __init__(
        self, folder: Path, collected: Path, done: Callable[[str, dict[str, dict[str, Any]]], None]
    ) -> None:
        self.hits, self.collected, self.done = folder / "hits", collected, done
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self) -> None:
        """Note what was run by importing everything, with what was noted so before."""
        known = json.loads(self.collected.read_text()) if self.collected.exists() else {}
        for name, blocks in sitecustomize.hits().items():
            known[name] = sorted({*known.get(name, ()), *blocks})
        self.collected.write_text(json.dumps(known))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        """Around one test."""
        sitecustomize.hits()
        began, used = time.monotonic(), _cpu()
        outcome = yield
        row = self.tests.setdefault(item.nodeid, {})
        marked = item.get_closest_marker("spark") is not None  # a folder of that name is a keyword, too
        spark = marked or "spark" in getattr(item, "fixturenames", ())
        cost = time.monotonic() - began if spark else _cpu() - used  # Spark computes where nobody counts
        row |= {"cost": cost, "hits": sitecustomize.hits(), "spark": spark}
        file = _file_of(item)
        if nextitem is None or _file_of(nextitem) != file:
            self._end(file)
        return outcome

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        row = self.tests.setdefault(report.nodeid, {})
        row["failed"] = row.get("failed", False) or report.failed

    def _end(self, file: str) -> None:
        """Hand over what was noted of a file, and begin the next as if it were alone."""
        for path in self.hits.glob("*.json"):
            test, found = json.loads(path.read_text())
            for name, blocks in found.items():
                if test in self.tests:
                    known = self.tests[test].setdefault("hits", {})
                    known[name] = sorted({*known.get(name, ()), *blocks})
            path.unlink()
        self.done(file, self.tests)
        self.tests = {}
        Imported.now().forget_answers()


def _file_of(item: Any) -> str:
    return str(item.nodeid).partition("::")[0]


def _cpu() -> float:
    """Seconds of processor time so far, with the children that have ended: others' load does not count."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(folder: Path, arguments: list[str], plugin: object, log: Path, seconds: float) -> int | None:
    """Run pytest with the code in a folder; its exit code, or None if it took too long.

    The limit is one of processor time; a child that waits for something may do so `WAITING` times as long.
    """
    child = os.fork()
    if child == 0:
        be_the_child(folder, arguments, plugin, log, seconds)
    return wait_for(child, seconds)


def wait_for(child: int, seconds: float) -> int | None:
    """The exit code of a child, or None if it took too long or was killed; its children end with it."""
    deadline = time.monotonic() + WAITING * seconds
    pause = 0.002
    try:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else None
            if time.monotonic() > deadline:
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
    finally:
        end_group(child)


def limit_and_log(log: Path, seconds: float) -> None:
    """Bound what this process, a new one, may use, and write down what it says."""
    os.setsid()
    limit = int(_cpu() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(out, 1)
    os.dup2(out, 2)


def be_the_child(folder: Path, arguments: list[str], plugin: object, log: Path, seconds: float) -> None:
    """Run pytest with the code in a folder, and end."""
    code = 3
    try:
        limit_and_log(log, seconds)
        os.environ["CI"] = "1"  # hypothesis draws the same examples each time, and keeps none
        sys.argv = ["pytest"]
        sitecustomize.install(folder)
        plain = ["-p", "no:cacheprovider", "-m", "not slow", "--tb=short", *arguments]
        code = int(pytest.main(plain, plugins=[plugin]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def end_group(child: int) -> None:
    """End a child and whatever it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
