"""One mutant against the tests that can detect it, in a process of its own."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from mutation.draw import Drawn
from mutation.sites import mutate

HOOK = Path(__file__).parent / "hook"
STARTING, PATIENCE = 60.0, 5.0
"Seconds for start and collection; times the usual duration after which tests count as hanging."


class Outcome(msgspec.Struct, frozen=True):
    """The result of a trial."""

    drawn: Drawn
    tests: int
    "How many were run at most."
    by: str = ""
    "The test that failed first, `a hanging test` or `an error at import`; empty for a survivor."


def run(tests: list[str], seconds: float, **environment: str) -> tuple[int | None, str]:
    """Run tests until one fails; return pytest's exit code (None if they hang) and the tests that failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no"]
    ran = subprocess.Popen(
        [*command, *tests],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = ran.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if ran.poll() is None:
            os.killpg(ran.pid, signal.SIGKILL)
    failed = [line.split()[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return ran.returncode, failed[0] if failed else ""


def try_out(drawn: Drawn, tests: list[str], seconds: float, folder: Path) -> Outcome:
    """Run tests, which take so many seconds without the mutant, until one fails."""
    if not tests:
        return Outcome(drawn, 0)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{drawn.module}.{drawn.index}.py"
    source.write_text(ast.unparse(mutate(Path(drawn.file).read_text(), drawn.index)))
    path = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
    mutant = f"{drawn.module}={source.resolve()}"
    code, failed = run(tests, STARTING + PATIENCE * seconds, PYTHONPATH=path, ROAMCAST_MUTANT=mutant)
    if code == 0:
        return Outcome(drawn, len(tests))
    return Outcome(drawn, len(tests), "a hanging test" if code is None else failed or "an error at import")
