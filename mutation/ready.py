"""A process that has collected the tests and forks for each mutant, so that nothing is imported again."""

from __future__ import annotations

import gc
import json
import os
import socket
from pathlib import Path
from typing import Any

from mutation.child import be_the_child, end_group, limit_and_log, wait_for
from mutation.hook import sitecustomize
from mutation.swap import Imported

UNSWAPPED = 97
"The exit code of a child that cannot have the mutant in this way."
COLLECTING = 1200.0
"Seconds of processor time for all that the process itself does."


class Serving:
    """Runs chosen tests with a mutant in a child, as often as it is asked to, instead of all tests.

    On each of its wires somebody asks; for each there is a fork of this process, which answers.
    """

    def __init__(self, wires: list[socket.socket]) -> None:
        self.wires = wires
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Answer requests until this process is ended."""
        items = {item.nodeid: item for item in session.items}
        imported = Imported.now()
        gc.collect()
        gc.freeze()  # no child has to look at, and so to copy, what all of them share
        for wire in self.wires[1:]:
            if os.fork() == 0:
                self._serve(wire, items, imported)
                os._exit(0)
        self._serve(self.wires[0], items, imported)
        return True

    def _serve(self, wire: socket.socket, items: dict[str, Any], imported: Imported) -> None:
        with wire.makefile("rw") as lines:
            for line in lines:
                lines.write(json.dumps(self._answer(json.loads(line), items, imported)) + "\n")
                lines.flush()

    def _answer(self, asked: dict[str, Any], items: dict[str, Any], imported: Imported) -> dict[str, Any]:
        folder = Path(asked["folder"])
        told = folder / "failed.txt"
        told.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            code = 3
            try:
                limit_and_log(folder / "trial.log", asked["seconds"])
                tests = [items[name] for name in asked["tests"] if name in items]
                code = self._run(asked, tests, imported, told)
            finally:
                os._exit(code)
        ended = wait_for(child, asked["seconds"])
        return {"ended": ended, "by": told.read_text() if told.exists() else ""}

    def _run(self, asked: dict[str, Any], items: list[Any], imported: Imported, told: Path) -> int:
        sitecustomize.install(Path(asked["shelf"]))  # for the processes that tests start
        if not imported.swap(Path(asked["file"]), asked["index"]):
            return UNSWAPPED
        imported.forget_answers()
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                told.write_text(self.failed[0])
                return 1
        return 0


class Place:
    """Where one of those who have mutants asks, and the folder in which things are put for that."""

    def __init__(self, wire: socket.socket, folder: Path) -> None:
        self.wire, self.folder = wire.makefile("rw"), folder

    def fails(self, file: str, index: int, tests: list[str], seconds: float) -> str | None:
        """The first of some tests that fails with a mutant, "" if none does, None if nobody can tell here."""
        asked = {"file": file, "index": index, "tests": tests, "seconds": seconds}
        asked |= {"folder": str(self.folder), "shelf": str(self.folder / "mutant")}
        print(json.dumps(asked), file=self.wire, flush=True)
        line = self.wire.readline()
        if not line:
            raise RuntimeError("the process that holds the tests has ended: see build/mutation/ready.log")
        answer = json.loads(line)
        if answer["ended"] == UNSWAPPED:
            return None
        if answer["by"]:
            return str(answer["by"])
        return "" if answer["ended"] == 0 else "a hanging test" if answer["ended"] is None else None


class Ready:
    """The process, as those who have mutants see it."""

    def __init__(self, files: list[str], folder: Path, places: int = 1) -> None:
        pairs = [socket.socketpair() for _ in range(places)]
        self.child = os.fork()
        if self.child == 0:
            for ours, _ in pairs:
                ours.close()
            empty = folder / "empty"
            empty.mkdir(parents=True, exist_ok=True)
            arguments = ["--continue-on-collection-errors", *files]
            serving = Serving([theirs for _, theirs in pairs])
            be_the_child(empty, arguments, serving, folder / "ready.log", COLLECTING)
        for _, theirs in pairs:
            theirs.close()
        self.places = [Place(ours, folder / f"place-{n}") for n, (ours, _) in enumerate(pairs)]

    def __enter__(self) -> Ready:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self.child)
