"""One mutant before the tests that can see it: the cheapest first, in ever longer stages, until one fails."""

from __future__ import annotations

import marshal
import shutil
import time
from collections import Counter
from pathlib import Path

import msgspec

from mutation.child import WAITING, Chosen, run
from mutation.draw import Drawn
from mutation.ready import Place
from mutation.sites import mutate
from mutation.trace import FastTest, Trace, digest, module_of, test_digest

STAGES = (1.0, 5.0, 20.0, 80.0)
"Seconds of tests, all in all, after which the next stage begins; the last takes the rest."
IMPORT = 0.3
"Seconds to import a file of tests."
DEAR = 1.0
"Seconds of a test that is tried after the cheap ones of all files."
MOST = 100.0
"Seconds of tests for one mutant, and as many on Spark: whoever survives so long has survived."
PATIENCE = 3.0
"Times the processor time that some tests took without the mutant, until they count as hanging."
CONFIRMING = 1800.0
STARTING = 20.0
"Seconds of processor time to start and to collect."
READY = 10.0
"The same where all is collected."


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
    most: float = 0.0
    "How many seconds of tests it was to meet."
    source: str = ""
    "The digest of its module."
    evidence: str = ""
    "The digest of the tests that say so."
    seconds: float = 0.0
    "How long it took, on the clock."
    cost: float = 0.0
    "What the tests that were run take without the mutant; of the last stage all."


def try_out(drawn: Drawn, trace: Trace, place: Place, most: float = MOST) -> Outcome:
    """Run the tests that can see a mutant, until one fails."""
    path = Path(drawn.file)
    shelf = place.folder / "mutant"
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    code = compile(mutate(path.read_text(), drawn.index), str(path.resolve()), "exec", dont_inherit=True)
    (shelf / f"{module_of(path)}.code").write_bytes(marshal.dumps(code))
    groups = trace.covering(module_of(path), drawn.block)
    anew = trace.at_import(module_of(path), drawn.block)
    stages, left = _choose(groups, path.parts[2], most, IMPORT if anew else 0.0)
    tests = sum(map(len, stages))
    outcome = Outcome(drawn, False, tests=tests, left=left, most=most, source=digest(path))
    began = time.monotonic()
    for stage in stages:
        outcome.cost += sum(test.cost for test in stage)
        by = _fails_anew(stage, place.folder) if anew else _fails(drawn, stage, place)
        if by:
            outcome.caught, outcome.by = True, by
            break
    outcome.seconds = time.monotonic() - began
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


def failing(tests: set[str], folder: Path) -> set[str]:
    """Those of some tests that fail without any mutant: what they catch is no mutant."""
    empty, told = folder / "empty", folder / "failed.txt"
    empty.mkdir(parents=True, exist_ok=True)
    told.unlink(missing_ok=True)
    files = sorted({test.partition("::")[0] for test in tests})
    run(empty, files, Chosen(sorted(tests), told), folder / "trial.log", CONFIRMING)
    return set(told.read_text().splitlines()) if told.exists() else set()


def _choose(
    groups: list[list[FastTest]], room: str, most: float, importing: float = 0.0
) -> tuple[list[list[FastTest]], int]:
    """The tests for a mutant in stages, and how many are left out for want of time.

    Those of the mutant's own room come first unless they are dear, the cheaper before, and Spark last. In a
    process of its own a file of tests takes `importing` seconds besides; what is made at import may be seen
    in any of them, so that each has its cheapest test tried before any has its second.
    """
    stages: list[list[FastTest]] = []
    left, number = 0, -1
    spent = {True: 0.0, False: 0.0}  # on Spark, whose seconds are of the clock, and without
    imported: set[str] = set()

    turns: dict[FastTest, int] = {}
    counts: Counter[str] = Counter()
    for test in sorted((test for group in groups for test in group), key=lambda test: test.cost):
        turns[test] = counts[test.file] if importing else 0
        counts[test.file] += 1

    def place(test: FastTest) -> tuple[bool, bool, int, bool, float, str]:
        own = test.file.startswith(f"tests/{room}/")
        return test.spark, test.cost > DEAR, turns[test], not own, test.cost, test.name

    for test in (test for group in groups for test in sorted(group, key=place)):
        cost = test.cost + (0.0 if test.file in imported else importing)
        if spent[test.spark] + cost > most:
            left += 1
            continue
        reached = sum(sum(spent.values()) > limit for limit in STAGES)
        if reached > number:
            number = reached
            stages.append([])
        stages[-1].append(test)
        imported.add(test.file)
        spent[test.spark] += cost
    return stages, left


def _fails(drawn: Drawn, stage: list[FastTest], place: Place) -> str:
    """The first test of a stage that fails, or what else went wrong; empty if nothing did.

    Tests are run where all is imported already, if a mutant can be put there; those on Spark are not, since
    its workers import for themselves.
    """
    here = [test for test in stage if not test.spark]
    if here:
        names = [test.name for test in _by_file(here)]
        by = place.fails(drawn.file, drawn.index, names, _patience(here, READY))
        if by:
            return by
        if by is not None:
            stage = [test for test in stage if test.spark]
    return _fails_anew(stage, place.folder) if stage else ""


def _fails_anew(stage: list[FastTest], folder: Path) -> str:
    """The same in a process that imports everything."""
    told = folder / "failed.txt"
    told.unlink(missing_ok=True)
    total = _patience(stage)
    arguments = ["-x", f"--timeout={WAITING * total:.0f}", *sorted({test.file for test in stage})]
    chosen = Chosen([test.name for test in _by_file(stage)], told)
    ended = run(folder / "mutant", arguments, chosen, folder / "trial.log", total)
    if ended == 0:
        return ""
    if told.exists():
        return told.read_text().splitlines()[0]
    if ended == 5:
        raise RuntimeError(f"none of {len(stage)} tests was found: {folder / 'trial.log'}")
    return "a hanging test" if ended is None else "an error at import"


def _by_file(tests: list[FastTest]) -> list[FastTest]:
    return sorted(tests, key=lambda test: (test.spark, test.file, test.cost))


def _patience(tests: list[FastTest], starting: float = STARTING) -> float:
    return starting + PATIENCE * sum(test.cost for test in tests)
