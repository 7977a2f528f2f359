"""Mutants drawn from a seed: files by their number of lines, then one fault per line."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from random import Random

import msgspec

from mutation.sites import Mutant, mutants, show


class Drawn(msgspec.Struct, frozen=True):
    """A drawn mutant."""

    file: str
    line: int
    statement: int
    operator: str
    before: str
    after: str
    text: str
    "The line, without surrounding white space."
    index: int

    @property
    def change(self) -> str:
        """The change, in a line."""
        return f"{self.before} -> {self.after}"

    @property
    def package(self) -> str:
        """The package of its module."""
        return Path(self.file).parts[2].removesuffix(".py")

    @property
    def module(self) -> str:
        """The name under which its module is imported."""
        return ".".join(Path(self.file).with_suffix("").parts[1:]).removesuffix(".__init__")


def sources() -> list[Path]:
    """The modules that mutants are drawn from: all."""
    return sorted(Path("src/roamcast").rglob("*.py"))


def draw(seed: int, count: int, among: list[Path] | None = None) -> list[Drawn]:
    """Return `count` mutants of a seed in the order of drawing, so that the first few are a fair sample."""
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
        change = show(source, it.index)
        drawn.append(Drawn(file, line, it.statement, it.operator, *change, text, it.index))
    return drawn
