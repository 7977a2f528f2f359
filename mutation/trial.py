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

STAGES = (1.0, 5.0, 20.0, 80.0)
"Seconds of tests, all in all, after which the next stage begins; the last takes the rest."
IMPORT = 0.3
"Seconds to import a file of tests."
DEAR = 1.0
"Seconds of a test that is tried after the cheap ones of all files."
MOST = 100.0
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


def try_out(drawn: Drawn, trace: Trace, folder: Path, most: float = MOST) -> Outcome:
    """Run the tests that can see a mutant, until one fails."""
    path = Path(drawn.file)
    shelf = folder / "mutant"
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    code = compile(mutate(path.read_text(), drawn.index), str(path.resolve()), "exec", dont_inherit=True)
    (shelf / f"{module_of(path)}.code").write_bytes(marshal.dumps(code))
    stages, left = _choose(trace.covering(module_of(path), drawn.block), path.parts[2], most)
    outcome = Outcome(drawn, False, tests=sum(map(len, stages)), left=left, source=digest(path))
    for stage in stages:
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


def _choose(groups: list[list[FastTest]], room: str, most: float) -> tuple[list[list[FastTest]], int]:
    """The tests for a mutant in stages, and how many are left out for want of time.

    A file of tests costs time to import, so its cheap ones are taken together: those of the mutant's own room
    first, the cheaper before, then one dear test after the other, Spark last.
    """
    stages: list[list[FastTest]] = []
    spent, left, number = 0.0, 0, -1
    for unit in (unit for group in groups for unit in _units(group, room)):
        cost = _cost(unit)
        if spent + cost > most:
            left += len(unit)
            continue
        reached = sum(spent > limit for limit in STAGES)
        if reached > number:
            number = reached
            stages.append([])
        stages[-1] += unit
        spent += cost
    return stages, left


def _units(tests: list[FastTest], room: str) -> list[list[FastTest]]:
    units: dict[tuple[str, str], list[FastTest]] = {}
    for test in tests:
        alone = test.name if test.cost > DEAR else ""
        units.setdefault((test.file, alone), []).append(test)

    def place(unit: list[FastTest]) -> tuple[bool, bool, bool, float]:
        first = unit[0]
        return first.spark, first.cost > DEAR, not first.file.startswith(f"tests/{room}/"), _cost(unit)

    return sorted(units.values(), key=place)


def _cost(unit: list[FastTest]) -> float:
    return IMPORT + sum(test.cost for test in unit)


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
