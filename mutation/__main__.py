"""`python -m mutation`: draw mutants, put them before the fast tests, write docs/mutants.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from mutation.child import warm_up
from mutation.draw import Drawn, draw
from mutation.report import PAGE, equivalents, page, tally
from mutation.several import outcomes_of
from mutation.trace import ROOMS, Trace, digest
from mutation.trial import MOST, Outcome, evidence, failing
from mutation.unrun import unrun

WANTED = 0.9
"The share of mutants that tests must catch."
BUILD = Path("build/mutation")
BOOK = BUILD / "outcomes.jsonl"
"An outcome a line."


def main() -> int:
    """Try the mutants of a seed; 0 if enough of them were caught, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, help="the set to draw; else a fresh one, which is printed")
    parser.add_argument("--count", type=int, default=200, help="how many mutants (200)")
    parser.add_argument(
        "--figure", metavar="TEXT", help="only files whose path has TEXT in it; writes no page"
    )
    parser.add_argument("--so-far", action="store_true", help="try none, and tell what is known of the set")
    parser.add_argument("--unrun", action="store_true", help="show the blocks that no fast test runs")
    parser.add_argument("--dry", action="store_true", help="show the mutants, and try none")
    parser.add_argument("--most", type=float, default=MOST, help=f"seconds of tests a mutant ({MOST:.0f})")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--as-traced", action="store_true", help="trace no more tests")
    parser.add_argument("--trace", nargs="*", metavar="PATH", help="trace these files alone, and try none")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(3)) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    drawn = [mutant for mutant in draw(seed, options.count) if (options.only or "") in mutant.file]
    if options.dry:
        for mutant in drawn:
            print(f"{mutant.file}:{mutant.line} [{mutant.operator}] {mutant.change}")
        return 0
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    warm_up()
    trace = Trace(BUILD / "trace")
    known = options.as_traced or options.so_far or options.unrun
    trace.refresh(say, () if known else ("tests/",) if options.trace is None else tuple(options.trace))
    if options.trace is not None:
        return 0
    if options.unrun:
        print(*unrun(trace, options.only or ""), sep="\n")
        return 0
    try:
        if options.so_far:
            before = _known()
            outcomes = [
                before[mutant]
                for mutant in drawn
                if mutant in before and _still(before[mutant], trace, options.most)
            ]
        else:
            outcomes = _try_all(drawn, trace, options.most, options.processes, say)
    except KeyboardInterrupt:
        say(f"interrupted; `python -m mutation --seed {seed}` goes on from here")
        return 130
    result = tally(outcomes, equivalents())
    text = page(result, seed, ROOMS, len(drawn), untraced=trace.untraced(), most=options.most)
    print(text[text.index("\nSeed ") :])
    if options.only is None:
        PAGE.write_text(text)
    return 0 if result.share >= WANTED else 1


def _try_all(
    drawn: list[Drawn], trace: Trace, most: float, processes: int, say: Callable[[str], None]
) -> list[Outcome]:
    """Try each mutant whose outcome is not known from before; and see that what caught one is sound."""
    folder = BUILD.resolve()
    outcomes = {mutant: it for mutant, it in _known().items() if mutant in drawn and _still(it, trace, most)}
    while True:
        todo = [mutant for mutant in drawn if mutant not in outcomes]
        for outcome in outcomes_of(todo, trace, folder, most, processes) if todo else ():
            outcomes[outcome.drawn] = outcome
            with BOOK.open("a") as out:
                out.write(msgspec.json.encode(outcome).decode() + "\n")
            caught = sum(each.caught for each in outcomes.values())
            end = f"caught by {outcome.by}" if outcome.caught else f"SURVIVED {outcome.tests} tests"
            where = f"{outcome.drawn.file}:{outcome.drawn.line} {outcome.drawn.change}"
            say(f"{caught} of {len(outcomes)}/{len(drawn)}: {where}: {end} ({outcome.seconds:.0f} s)")
        by = {mutant: outcomes[mutant].by for mutant in drawn if "::" in outcomes[mutant].by}
        say(f"seeing whether the {len(set(by.values()))} tests that caught mutants pass without")
        unsound = failing(set(by.values()), folder)
        if not unsound:
            return [outcomes[mutant] for mutant in drawn]
        say(f"these fail without a mutant, and are left out: {', '.join(sorted(unsound))}")
        trace.forget(unsound)
        for mutant, test in by.items():
            if test in unsound:
                del outcomes[mutant]


def _known() -> dict[Drawn, Outcome]:
    """The outcomes of before, the latest of each mutant."""
    lines = BOOK.read_text().splitlines() if BOOK.exists() else []
    return {outcome.drawn: outcome for outcome in (msgspec.json.decode(line, type=Outcome) for line in lines)}


def _still(outcome: Outcome, trace: Trace, most: float) -> bool:
    """Whether an outcome rests on the same module and the same tests as now, for as many seconds."""
    enough = outcome.caught or not outcome.left or outcome.most >= most
    same = outcome.source == digest(Path(outcome.drawn.file))
    return enough and same and outcome.evidence == evidence(outcome, trace)


if __name__ == "__main__":
    sys.exit(main())
