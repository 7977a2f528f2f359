"""`make mutants`: draw mutants from a seed, run the fast tests against each, write docs/mutants.md."""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation.covering import Covering, by_package, measure
from mutation.draw import Drawn, draw
from mutation.trial import Outcome, run, try_out

PAGE, BUILD = Path("docs/mutants.md"), Path("build/mutation")
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
WANTED = 0.9
"The share of mutants that tests must detect."


def main() -> int:
    """Try the mutants of a seed; return 0 if enough of them are detected, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, help="seed of the drawing; random and printed if omitted")
    parser.add_argument("--count", type=int, default=200, help="number of mutants (200)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files with TEXT in their path")
    parser.add_argument("--dry", action="store_true", help="print the mutants and try none")
    parser.add_argument("--most", type=float, default=25.0, help="seconds of tests per mutant (25)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(3)) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    drawn = [mutant for mutant in draw(seed, options.count) if options.only in mutant.file]
    if options.dry:
        print(*(f"{each.file}:{each.line} [{each.operator}] {each.change}" for each in drawn), sep="\n")
        return 0
    measure(BUILD.resolve())
    outcomes = sound(try_all(drawn, options.most, options.processes))
    text, share = page(outcomes, seed, equivalents())
    print(text[text.index("\nSeed ") :])
    if not options.only:
        PAGE.write_text(text)
    return 0 if share >= WANTED else 1


def try_all(drawn: list[Drawn], most: float, processes: int) -> list[Outcome]:
    """Try each mutant against the tests that can detect it."""
    covering = Covering(BUILD.resolve())
    chosen = {mutant: covering.tests(mutant, most) for mutant in drawn}

    def attempt(mutant: Drawn) -> Outcome:
        seconds = sum(covering.seconds[test] for test in chosen[mutant])
        outcome = try_out(mutant, chosen[mutant], seconds, BUILD / "mutants")
        result = f"detected by {outcome.by}" if outcome.by else f"SURVIVED {outcome.tests} tests"
        print(f"{mutant.file}:{mutant.line} {mutant.change}: {result}", file=sys.stderr, flush=True)
        return outcome

    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(attempt, drawn))


def sound(outcomes: list[Outcome]) -> list[Outcome]:
    """Leave out mutants that were detected by a test that fails without a mutant too."""
    tests = sorted({each.by for each in outcomes if "::" in each.by})
    unsound = set()
    while tests and (failed := run(tests, 3600.0)[1]):
        print(f"fails without a mutant: {failed}", file=sys.stderr)
        unsound.add(failed)
        tests.remove(failed)
    return [each for each in outcomes if each.by not in unsound]


def equivalents() -> dict[tuple[str, str, str], str]:
    """Mutants that no test could detect, by file, line and change, each with the reason."""
    known = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    return {(each["file"], each["text"], each["change"]): each["why"] for each in known}


def page(outcomes: list[Outcome], seed: int, known: dict[tuple[str, str, str], str]) -> tuple[str, float]:
    """Return the page and the share of the mutants that were detected."""
    excused = {
        each.drawn: known[key]
        for each in outcomes
        if not each.by and (key := (each.drawn.file, each.drawn.text, each.drawn.change)) in known
    }
    counted = [each for each in outcomes if each.drawn not in excused]
    survivors = [each for each in counted if not each.by]
    share = 1 - len(survivors) / max(1, len(counted))
    text = f"""# Mutants

Written by `make mutants`; do not edit. A mutant is the code with one small fault: `<` for `<=`, 31 for 32, a
statement removed, two arguments swapped. {len(outcomes)} mutants were drawn from a seed over all packages,
by lines of code, and run against the fast tests that execute the changed line and those of its package,
quickest first. [Decision 0110](decisions/0110-mutation-testing-with-a-tool-of-our-own.md) has the reasons.

`make mutants` draws a new set, `make mutants MUTANTS="--seed {seed}"` this one.

Seed {seed}: **{len(counted) - len(survivors)} of {len(counted)} were detected, {100 * share:.1f} %**;
{len(survivors)} survived, {len(excused)} do not change the behaviour.

| package | mutants | detected |
|---|---:|---:|
"""
    found = {each.drawn: each.by for each in counted}
    for package, own in by_package([each.drawn for each in counted]).items():
        text += f"| {package} | {len(own)} | {sum(bool(found[each]) for each in own)} |\n"
    for title, rows in (
        ("Survivors", {each.drawn: f"{each.tests} tests" for each in survivors}),
        ("Equivalent", excused),
    ):
        text += f"\n## {title}\n\n| where | line | change | |\n|---|---|---|---|\n" if rows else ""
        for it, note in sorted(rows.items(), key=lambda row: (row[0].file, row[0].line)):
            where = f"{it.file.removeprefix('src/roamcast/')}:{it.line}"
            text += f"| {where} | {_code(it.text)} | {_code(it.before)} -> {_code(it.after)} | {note} |\n"
    return text, share


def _code(text: str) -> str:
    short = text if len(text) <= 90 else f"{text[:87]}..."
    return "`" + short.replace("|", "\\|").replace("\n", " ") + "`"


if __name__ == "__main__":
    sys.exit(main())
