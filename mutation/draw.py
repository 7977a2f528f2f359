"""Mutants drawn from a seed: lines of all rooms alike, so files by their size; then a fault of each line."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from random import Random

import msgspec

from mutation.sites import Mutant, mutants, show
from mutation.trace import sources


class Drawn(msgspec.Struct, frozen=True):
    """A mutant that was drawn."""

    file: str
    line: int
    operator: str
    before: str
    after: str
    text: str
    "The line as it stands, without the space around it."
    block: int
    index: int

    @property
    def change(self) -> str:
        """The change, in a line."""
        return f"{self.before} -> {self.after}"


def draw(seed: int, count: int, among: list[Path] | None = None) -> list[Drawn]:
    """So many mutants of a seed, in the order of drawing: the first few are a fair sample, too."""
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    texts = {}
    for path in among or sources():
        texts[str(path)] = source = path.read_text()
        for mutant in mutants(source):
            lines[str(path), mutant.line].append(mutant)
    random = Random(f"{seed}/mutants")
    drawn = []
    for file, line in random.sample(sorted(lines), min(count, len(lines))):
        operators: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in lines[file, line]:
            operators[mutant.operator].append(mutant)
        it = random.choice(operators[random.choice(sorted(operators))])
        source = texts[file]
        text = source.splitlines()[line - 1].strip()
        drawn.append(Drawn(file, line, it.operator, *show(source, it.index), text, it.block, it.index))
    return drawn
