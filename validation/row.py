"""A row of the page before it is measured: one world, one traffic, two simulators, many movements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from roamcast.scenario.model import Scenario
from validation import ours
from validation.ns2 import Outcome, Send
from validation.plan import Plan, Quantity, compare
from validation.report import Check


@dataclass(frozen=True)
class Contest:
    """Who is compared: each takes a ground, a schedule and a seed, and the options of a row."""

    ours: Callable[..., Outcome]
    theirs: Callable[..., Outcome]


@dataclass(frozen=True)
class Row:
    """A world, what is said in it, and on which movements."""

    subject: str
    world: Callable[[float], Scenario]
    seconds: float
    schedule: Callable[[float, int], list[Send]]
    first: int
    "The first seed: of chance, and of movements unless one is given."
    runs: int
    contest: Contest
    quantities: tuple[Quantity, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    "Further arguments of both sides."
    settling: float = 0.0
    "The share of the time that is not counted."
    movement: int | None = None

    def measure(self, plan: Plan) -> Iterator[Check]:
        """One run a side and seed."""
        scenario = self.world(plan.seconds(self.seconds))
        options = dict(self.options)
        if self.settling:
            options["since"] = self.settling * scenario.duration

        def play(seed: int) -> tuple[Outcome, Outcome]:
            ground = ours.lay_out(scenario, self.movement or seed, plan.folder)
            sends = self.schedule(scenario.duration, seed)
            us, them = plan.kept.both(self.contest.ours, self.contest.theirs, ground, sends, seed, **options)
            return us, them

        yield from compare(plan, self.subject, plan.seeds(self.first, self.runs), play, self.quantities)


def measure_all(*rows: Row) -> Callable[[Plan], Iterator[Check]]:
    """What a topic of several rows does."""

    def measure(plan: Plan) -> Iterator[Check]:
        for row in rows:
            yield from row.measure(plan)

    return measure
