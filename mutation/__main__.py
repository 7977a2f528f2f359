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
from mutation.trace import ROOMS, Trace, digest
from mutation.trial import MOST, Outcome, evidence, try_out

WANTED = 0.9
"The share of mutants that tests must catch."
BUILD = Path("build/mutation")


def main() -> int:
    """Try the mutants of a seed; 0 if enough of them were caught, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, help="the set to draw; else a fresh one, which is printed")
    parser.add_argument("--count", type=int, default=200, help="how many mutants (200)")
    parser.add_argument("--only", metavar="TEXT", help="only files whose path has TEXT in it; writes no page")
    parser.add_argument("--dry", action="store_true", help="show the mutants, and try none")
    parser.add_argument("--most", type=float, default=MOST, help=f"seconds of tests a mutant ({MOST:.0f})")
    parser.add_argument("--as-traced", action="store_true", help="trace no more tests; writes no page")
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
    trace.refresh(say, most=0 if options.as_traced else None)
    try:
        outcomes = _try_all(drawn, trace, options.most, say)
    except KeyboardInterrupt:
        say(f"interrupted; `python -m mutation --seed {seed}` goes on from here")
        return 130
    result = tally(outcomes, equivalents())
    text = page(result, seed, ROOMS)
    print(text[text.index("\nSeed ") :])
    if options.only is None and not options.as_traced:
        PAGE.write_text(text)
    return 0 if result.share >= WANTED else 1


def _try_all(drawn: list[Drawn], trace: Trace, most: float, say: Callable[[str], None]) -> list[Outcome]:
    """Try each mutant whose outcome is not known from before."""
    folder = BUILD.resolve()
    book = folder / "outcomes.jsonl"
    known: dict[Drawn, Outcome] = {}
    for line in book.read_text().splitlines() if book.exists() else ():
        outcome = msgspec.json.decode(line, type=Outcome)
        known[outcome.drawn] = outcome
    outcomes = []
    caught = 0
    for number, mutant in enumerate(drawn, 1):
        outcome = known.get(mutant)
        if outcome is None or not _still(outcome, trace):
            outcome = try_out(mutant, trace, folder, most)
            with book.open("a") as out:
                out.write(msgspec.json.encode(outcome).decode() + "\n")
        outcomes.append(outcome)
        caught += outcome.caught
        end = f"caught by {outcome.by}" if outcome.caught else f"SURVIVED {outcome.tests} tests"
        say(f"{caught} of {number}/{len(drawn)}: {mutant.file}:{mutant.line} {mutant.change}: {end}")
    return outcomes


def _still(outcome: Outcome, trace: Trace) -> bool:
    """Whether an outcome rests on the same module and the same tests as now."""
    same = outcome.source == digest(Path(outcome.drawn.file))
    return same and outcome.evidence == evidence(outcome, trace)


if __name__ == "__main__":
    sys.exit(main())
