"""Which fast tests run which line, and how long each takes: measured once by coverage.py and pytest."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mutation.draw import Drawn


class Covering:
    """Reads what `measure` wrote into a folder."""

    def __init__(self, folder: Path) -> None:
        from coverage import CoverageData  # installed by `make mutants`

        self.data: Any = CoverageData(str(folder / "coverage"))
        self.data.read()
        self.seconds: dict[str, float] = {}
        for case in ElementTree.parse(folder / "tests.xml").iter("testcase"):
            file = case.get("classname", "").replace(".", "/") + ".py"
            if not list(case):  # neither failed nor skipped
                self.seconds[f"{file}::{case.get('name')}"] = float(case.get("time", "0"))
        self.lines: dict[str, dict[int, list[str]]] = {}

    def tests(self, drawn: Drawn, most: float) -> list[str]:
        """Return the tests that run a mutant's line, then those of its package, quickest first.

        Code that runs at import or in a worker of Spark is not seen to be run by any test, so the tests of
        the package are tried too. Together they take at most `most` seconds, but for the first.
        """
        if drawn.file not in self.lines:
            self.lines[drawn.file] = self.data.contexts_by_lineno(str(Path(drawn.file).resolve()))
        contexts = self.lines[drawn.file]
        lines = range(drawn.statement, drawn.line + 1)
        ran = {context.partition("|")[0] for line in lines for context in contexts.get(line, ())}
        near = {test for test in self.seconds if test.startswith(f"tests/{drawn.package}/")}
        return choose([ran & self.seconds.keys(), near - ran], self.seconds, most)


def choose(groups: list[set[str]], seconds: dict[str, float], most: float) -> list[str]:
    """Return tests of each group in turn, the quickest first, while they take at most `most` seconds."""
    chosen: list[str] = []
    spent = 0.0
    for test in (each for group in groups for each in sorted(group, key=lambda name: (seconds[name], name))):
        if not chosen or spent + seconds[test] <= most:
            chosen.append(test)
            spent += seconds[test]
    return chosen


def measure(folder: Path) -> None:
    """Run the fast tests once under coverage.py, unless that was done with the same code and tests."""
    folder.mkdir(parents=True, exist_ok=True)
    state = hashlib.sha256()
    for path in sorted(each for root in ("src", "tests") for each in Path(root).rglob("*.py")):
        state.update(path.read_bytes())
    known = folder / "measured"
    if known.exists() and known.read_text() == state.hexdigest():
        return
    (folder / "coverage.ini").write_text(
        f"[run]\nsource = src/roamcast\ndata_file = {folder / 'coverage'}\ncore = ctrace\n"
    )
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider"]
    command += ["--cov", f"--cov-config={folder / 'coverage.ini'}", "--cov-context=test", "--cov-report="]
    subprocess.run([*command, f"--junitxml={folder / 'tests.xml'}", "tests"], check=False)
    known.write_text(state.hexdigest())


def by_package(drawn: list[Drawn]) -> dict[str, list[Drawn]]:
    """Mutants by their package, in order of its name."""
    found = defaultdict(list)
    for each in drawn:
        found[each.package].append(each)
    return dict(sorted(found.items()))
