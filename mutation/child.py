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
from pathlib import Path
from typing import Any

import pytest

from mutation.hook import sitecustomize

MEMORY = 6 * 2**30
"Bytes of data that tests may take: a mutant may well collect without end."


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
    """Keeps the tests that were chosen, in that order file by file; remembers the first that fails."""

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
        if report.failed and not self.told.exists():
            self.told.write_text(report.nodeid)


class Tracing:
    """Notes of each test how long it took and which blocks it ran, its children's included."""

    def __init__(self, folder: Path, told: Path) -> None:
        self.hits, self.told = folder / "hits", told
        self.tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Around one test."""
        sitecustomize.hits()
        began = time.monotonic()
        outcome = yield
        row = self.tests.setdefault(item.nodeid, {})
        row |= {"cost": time.monotonic() - began, "hits": sitecustomize.hits()}
        row["spark"] = "spark" in item.keywords or "spark" in getattr(item, "fixturenames", ())
        return outcome

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        row = self.tests.setdefault(report.nodeid, {})
        row["failed"] = row.get("failed", False) or report.failed

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        for path in self.hits.glob("*.json"):
            test, found = json.loads(path.read_text())
            for name, blocks in found.items():
                if test in self.tests:
                    known = self.tests[test]["hits"]
                    known[name] = sorted({*known.get(name, ()), *blocks})
            path.unlink()
        ours = [name for name in sys.modules if name.startswith("roamcast.")]
        imported = sorted(name for name in ours if hasattr(sys.modules[name], "__hit__"))
        self.told.write_text(json.dumps({"tests": self.tests, "imported": imported}))


def run(folder: Path, arguments: list[str], plugin: object, log: Path, seconds: float) -> int | None:
    """Run pytest with the code in a folder; its exit code, or None if it took too long."""
    child = os.fork()
    if child == 0:
        _be_the_child(folder, arguments, plugin, log)
    deadline = time.monotonic() + seconds
    try:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else None
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)
    finally:
        _end_group(child)


def _be_the_child(folder: Path, arguments: list[str], plugin: object, log: Path) -> None:
    code = 3
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(out, 1)
        os.dup2(out, 2)
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


def _end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
