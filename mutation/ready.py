"""A process that has collected the tests and forks for each mutant, so that nothing is imported again."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from mutation.child import be_the_child, limit_and_log, wait_for
from mutation.hook import sitecustomize
from mutation.swap import forget_answers, swap

UNSWAPPED = 97
"The exit code of a child that cannot have the mutant in this way."
COLLECTING = 1200.0
"Seconds of processor time for all that the process itself does."


class Serving:
    """Runs chosen tests with a mutant in a child, as often as it is asked to, instead of all tests."""

    def __init__(self, wire: socket.socket, log: Path) -> None:
        self.wire, self.log = wire, log
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Answer requests until there are no more."""
        items = {item.nodeid: item for item in session.items}
        with self.wire.makefile("rw") as wire:
            for line in wire:
                wire.write(json.dumps(self._answer(json.loads(line), items)) + "\n")
                wire.flush()
        return True

    def _answer(self, asked: dict[str, Any], items: dict[str, Any]) -> dict[str, Any]:
        told = Path(asked["told"])
        told.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            code = 3
            try:
                limit_and_log(self.log, asked["seconds"])
                code = self._run(asked, [items[name] for name in asked["tests"] if name in items], told)
            finally:
                os._exit(code)
        ended = wait_for(child, asked["seconds"])
        return {"ended": ended, "by": told.read_text() if told.exists() else ""}

    def _run(self, asked: dict[str, Any], items: list[Any], told: Path) -> int:
        sitecustomize.install(Path(asked["shelf"]))  # for the processes that tests start
        if not swap(Path(asked["file"]), asked["index"]):
            return UNSWAPPED
        forget_answers()
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                told.write_text(self.failed[0])
                return 1
        return 0


class Ready:
    """The process, as those who have mutants see it."""

    def __init__(self, files: list[str], folder: Path) -> None:
        ours, theirs = socket.socketpair()
        self.told = folder / "failed.txt"
        self.child = os.fork()
        if self.child == 0:
            ours.close()
            empty = folder / "empty"
            empty.mkdir(parents=True, exist_ok=True)
            arguments = ["--continue-on-collection-errors", *files]
            serving = Serving(theirs, folder / "trial.log")
            be_the_child(empty, arguments, serving, folder / "ready.log", COLLECTING)
        theirs.close()
        self.wire = ours.makefile("rw")

    def fails(self, file: str, index: int, tests: list[str], shelf: Path, seconds: float) -> str | None:
        """The first of some tests that fails with a mutant, "" if none does, None if nobody can tell here."""
        asked = {"file": file, "index": index, "tests": tests, "shelf": str(shelf), "seconds": seconds}
        print(json.dumps(asked | {"told": str(self.told)}), file=self.wire, flush=True)
        line = self.wire.readline()
        if not line:
            raise RuntimeError("the process that holds the tests has ended: see build/mutation/ready.log")
        answer = json.loads(line)
        if answer["ended"] == UNSWAPPED:
            return None
        if answer["by"]:
            return str(answer["by"])
        return "" if answer["ended"] == 0 else "a hanging test" if answer["ended"] is None else None
