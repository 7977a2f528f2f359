"""One mutant before the tests that can see it: the cheapest first, in ever longer stages, until one fails."""

from __future__ import annotations

import marshal
import shutil
from pathlib import Path

import msgspec

from mutation.child import Chosen, run
from mutation.draw import Drawn
from mutation.sites import mutate
from mutation.trace import FastTest, Trace, digest, module_of, test_digest

STAGES = (2.0, 10.0, 40.0, 120.0)
"Seconds of tests, all in all, after which the next stage begins; the last takes the rest."
MOST = 300.0
"Seconds of tests for one mutant: whoever survives so long has survived."
PATIENCE = 10.0
"Times what a test took without the mutant, and at least `LEAST` seconds, until it counts as hanging."
LEAST = 30.0
STARTING = 120.0
"Seconds to start and to collect, on a busy machine."


class Outcome(msgspec.Struct):
    """What became of a mutant."""

    drawn: Drawn
    caught: bool
    by: str = ""
    "The test that failed first; `a hanging test` or `an error at import` where none could."
    tests: int = 0
    "How many were tried, at most."
    left: int = 0
    "How many that can see it were not, for want of time."
    source: str = ""
    "The digest of its module."
    evidence: str = ""
    "The digest of the tests that say so."


def try_out(drawn: Drawn, trace: Trace, folder: Path) -> Outcome:
    """Run the tests that can see a mutant, until one fails."""
    path = Path(drawn.file)
    shelf = folder / "mutant"
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    code = compile(mutate(path.read_text(), drawn.index), str(path.resolve()), "exec", dont_inherit=True)
    (shelf / f"{module_of(path)}.code").write_bytes(marshal.dumps(code))
    chosen, left = _choose(trace.covering(module_of(path), drawn.block))
    outcome = Outcome(drawn, False, tests=len(chosen), left=left, source=digest(path))
    for stage in _stages(chosen):
        by = _fails(stage, shelf, folder)
        if by is not None:
            outcome.caught, outcome.by = True, by
            break
    outcome.evidence = evidence(outcome, trace)
    return outcome


def evidence(outcome: Outcome, trace: Trace) -> str:
    """What an outcome rests on: the test that caught a mutant, or all that did not."""
    if outcome.caught and "::" in outcome.by:
        files = {outcome.by.partition("::")[0]}
    else:
        groups = trace.covering(module_of(Path(outcome.drawn.file)), outcome.drawn.block)
        files = {test.file for group in groups for test in group}
    return " ".join(test_digest(Path(file)) for file in sorted(files) if Path(file).exists())


def _choose(groups: list[list[FastTest]]) -> tuple[list[FastTest], int]:
    chosen, spent = [], 0.0
    every = [test for group in groups for test in group]
    for test in every:
        if spent + test.cost <= MOST:
            spent += test.cost
            chosen.append(test)
    return chosen, len(every) - len(chosen)


def _stages(tests: list[FastTest]) -> list[list[FastTest]]:
    stages: list[list[FastTest]] = []
    spent = 0.0
    for test in tests:
        spent += test.cost
        number = sum(spent > limit for limit in STAGES)
        while len(stages) <= number:
            stages.append([])
        stages[number].append(test)
    return [stage for stage in stages if stage]


def _fails(stage: list[FastTest], shelf: Path, folder: Path) -> str | None:
    told = folder / "failed.txt"
    told.unlink(missing_ok=True)
    files = sorted({test.file for test in stage})
    order = sorted(stage, key=lambda test: (test.spark, test.file, test.cost))
    hanging = max(LEAST, PATIENCE * max(test.cost for test in stage))
    total = STARTING + PATIENCE * sum(test.cost for test in stage)
    arguments = ["-x", f"--timeout={hanging:.0f}", *files]
    ended = run(shelf, arguments, Chosen([test.name for test in order], told), folder / "trial.log", total)
    if ended == 0:
        return None
    if told.exists():
        return told.read_text()
    if ended == 5:
        raise RuntimeError(f"none of {len(stage)} tests was found: {folder / 'trial.log'}")
    return "a hanging test" if ended is None else "an error at import"
