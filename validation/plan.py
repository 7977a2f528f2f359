"""The plan of a comparison: durations, folder and kept runs; and the comparison of quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeVar

from validation.kept import Kept, NotMeasuredError
from validation.ns2 import Outcome
from validation.report import Check

PAYLOAD = 512
FAST = (11e6, 11e6)
PROBE_SECONDS = 16.0
"Long enough for each schedule to begin."
Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """How the comparisons are to be run."""

    quick: bool
    folder: Path
    kept: Kept = field(default_factory=Kept)
    probe: bool = False
    "Whether only the behaviour of our side is sampled: one short run a row."

    def seeds(self, first: int, count: int) -> list[int]:
        """Seeds of movements and of chance; two of them where it must be quick, one in a probe."""
        return list(range(first, first + (1 if self.probe else 2 if self.quick else count)))

    def seconds(self, full: float) -> float:
        """A duration; a third of it where it must be quick, a few seconds in a probe."""
        if self.probe:
            return min(full, PROBE_SECONDS)
        return full / 3 if self.quick else full

    def each(self, seeds: Sequence[int], play: Callable[[int], Result]) -> list[Result]:
        """What each seed comes to; those that are not measured, and not to be measured now, are left out."""
        results = []
        for seed in seeds:
            try:
                results.append(play(seed))
            except NotMeasuredError:
                continue
        return results


@dataclass(frozen=True)
class Topic:
    """A section of the page before it is measured."""

    title: str
    theirs: str
    "What our numbers are compared with."
    text: str
    measure: Callable[[Plan], Iterator[Check]]
    third: str = ""
    "What the notes are."


Play = Callable[[int], tuple[Outcome, Outcome]]
"One seed's run of ours and of theirs."


@dataclass(frozen=True)
class Quantity:
    """What is compared of two outcomes, and how far apart it may be."""

    name: str
    of: Callable[[Outcome], float]
    bound: float
    relative: bool


DELIVERY = Quantity("delivery", lambda o: o.delivery, 0.01, False)
SENDS = Quantity("transmissions", lambda o: o.transmissions, 0.017, True)
RECEPTIONS = Quantity("receptions a transmission", lambda o: o.received / max(o.transmissions, 1), 0.01, True)
DELAY = Quantity("mean delay, s", lambda o: o.delay, 0.067, True)


def compare(
    plan: Plan, subject: str, seeds: Sequence[int], play: Play, quantities: Sequence[Quantity]
) -> Iterator[Check]:
    """Run both sides once a seed, and check each quantity over all pairs that have it: where nothing was
    delivered on one side, nobody can say how late it was."""
    pairs = plan.each(seeds, play)
    for quantity in quantities:
        measured = [(quantity.of(us), quantity.of(them)) for us, them in pairs]
        known = [pair for pair in measured if isfinite(pair[0]) and isfinite(pair[1])]
        if known:
            ours, theirs = map(list, zip(*known, strict=True))
            yield Check(
                subject, quantity.name, ours, theirs, quantity.bound, quantity.relative, planned=len(seeds)
            )
