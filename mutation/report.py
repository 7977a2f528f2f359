"""What the mutants showed, as a page."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import msgspec

from mutation.draw import Drawn
from mutation.trial import MOST, Outcome

PAGE = Path("docs/mutants.md")
EQUIVALENT = Path("mutation/equivalent.toml")

PREFACE = """# Mutants

Written by `make mutants` from what it measured; do not edit. How strong are the tests? A mutant is the code
with a small fault: `<` for `<=`, 31 for 32, a statement left out, two arguments swapped. {count} of them are
drawn from a seed, over {rooms} by their lines, and put
before the tests of `make test` that run the changed block, cheapest first, until one fails or {most:.0f}
seconds of them have not noticed it.
[mutation/](../mutation) has the tool;
[decision 0110](decisions/0110-mutation-testing-with-a-tool-of-our-own.md) says why it is our own.

`make mutants` draws a fresh set, `make mutants MUTANTS="--seed {seed}"` this one.
"""


class Equivalent(msgspec.Struct, frozen=True):
    """Why a mutant is none."""

    file: str
    text: str
    change: str
    why: str

    def explains(self, drawn: Drawn) -> bool:
        """Whether it speaks of a mutant."""
        return (self.file, self.text, self.change) == (drawn.file, drawn.text, drawn.change)


def equivalents() -> list[Equivalent]:
    """The mutants that no test could catch."""
    read = tomllib.loads(EQUIVALENT.read_text())
    return msgspec.convert(read.get("mutant", []), list[Equivalent])


class Tally(msgspec.Struct):
    """How many were caught."""

    outcomes: list[Outcome]
    excused: list[tuple[Outcome, str]]
    survivors: list[Outcome]

    @property
    def counted(self) -> int:
        """The mutants that a test could catch."""
        return len(self.outcomes) - len(self.excused)

    @property
    def caught(self) -> int:
        """Those that one did catch."""
        return self.counted - len(self.survivors)

    @property
    def share(self) -> float:
        """Caught among counted."""
        return self.caught / self.counted if self.counted else 1.0


def tally(outcomes: list[Outcome], known: list[Equivalent]) -> Tally:
    """Count."""
    excused, survivors = [], []
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.drawn.file, outcome.drawn.line)):
        if not outcome.caught:
            why = next((each.why for each in known if each.explains(outcome.drawn)), None)
            if why is None:
                survivors.append(outcome)
            else:
                excused.append((outcome, why))
    return Tally(outcomes, excused, survivors)


def page(
    result: Tally, seed: int, rooms: tuple[str, ...], drawn: int, *, untraced: int = 0, most: float = MOST
) -> str:
    """The page; `untraced`: how many files of tests nobody asked; `most`: seconds of tests a mutant."""
    named = ", ".join(f"`{room}/`" for room in rooms)
    text = PREFACE.format(count=drawn, seed=seed, rooms=named, most=most)
    if len(result.outcomes) < drawn:
        text += f"\nOf this set the first {len(result.outcomes)} have been tried, in the order of drawing.\n"
    if untraced:
        text += (
            f"\n{untraced} files of fast tests were not asked, for want of time: what only they would notice"
            " counts as survived.\n"
        )
    text += (
        f"\nSeed {seed}: **{result.caught} of {result.counted} were caught, {100 * result.share:.1f} %**;"
        f" {len(result.survivors)} survived, {len(result.excused)} change nothing that could be noticed.\n"
    )
    text += "\n| room | counted | caught |\n|---|---:|---:|\n"
    for room in rooms:
        own = [each for each in result.outcomes if each.drawn.file.startswith(f"src/roamcast/{room}/")]
        excused = sum(each in own for each, _ in result.excused)
        text += f"| {room} | {len(own) - excused} | {sum(each.caught for each in own)} |\n"
    text += "\n| operator | tried | caught |\n|---|---:|---:|\n"
    every = Counter(outcome.drawn.operator for outcome in result.outcomes)
    caught = Counter(outcome.drawn.operator for outcome in result.outcomes if outcome.caught)
    for operator, count in sorted(every.items()):
        text += f"| {operator} | {count} | {caught[operator]} |\n"
    if result.survivors:
        text += (
            "\n## Survivors\n\n| where | line | before -> after | tests that ran it |\n|---|---|---|---:|\n"
        )
        for outcome in result.survivors:
            text += _row(outcome, str(outcome.tests) if outcome.tests else "none")
    if result.excused:
        text += (
            "\n## The same with the change\n\n| where | line | before -> after | why |\n|---|---|---|---|\n"
        )
        for outcome, why in result.excused:
            text += _row(outcome, why)
    return text


def _row(outcome: Outcome, last: str) -> str:
    it = outcome.drawn
    where = f"{it.file.removeprefix('src/roamcast/')}:{it.line}"
    return f"| {where} | {_code(it.text)} | {_code(it.before)} -> {_code(it.after)} | {last} |\n"


def _code(text: str) -> str:
    short = text if len(text) <= 90 else f"{text[:87]}..."
    return "`" + short.replace("|", "\\|").replace("\n", " ") + "`"
