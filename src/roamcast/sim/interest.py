"""Who wants what: interests that are fixed, shared, or follow the subscriber's position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId, Position
from roamcast.scenario.content import ScenarioContent
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import SubscriberSettings
from roamcast.scenario.zones import ZoneGrid
from roamcast.sim.workload import choose


class Interest(NamedTuple):
    """What one subscriber wants, as a function of where it is."""

    node: NodeId
    fixed: tuple[Filter, ...]
    "What it wants for ever, if its interest does not follow its position."
    grid: ZoneGrid | None
    "The zones that its interest follows, or None."
    tick: float
    "Seconds between two looks at its position."
    phase: float
    "When it looks for the second time (the first is at 0), so that not everyone looks at once."
    pace: float
    "The fastest that it moves, in m/s."
    bias: float
    "Probability that a look turns to the zone where it is."
    seed: int

    @property
    def follows(self) -> bool:
        """Whether its interest changes with its position."""
        return self.grid is not None

    def filters_at(self, position: Position, look: int) -> tuple[Filter, ...]:
        """What it wants after its look number `look` (from 0), made at `position`."""
        if self.grid is None:
            return self.fixed
        if self.bias < 1.0:
            random = Random(f"{self.seed}/look/{self.node}/{look}")
            if random.random() >= self.bias:
                return (self.grid.filter(1 + random.randrange(len(self.grid))),)
        return (self.grid.filter(self.grid.zone_at(*position)),)

    def time_of(self, look: int) -> float:
        """When it makes its look number `look`."""
        return self.phase + (look - 1) * self.tick if look else 0.0

    def last_poll(self, now: float) -> int:
        """The number of the last look that is due by now."""
        return 0 if now < self.phase else math.floor((now - self.phase) / self.tick + 1e-9) + 1

    def next_poll(self, position: Position, look: int) -> int | None:
        """The first look after `look` that may find it in another zone than `position`'s; None if none can.

        A walker far from the edge of its zone cannot have left it by its next look: this saves the others.
        """
        if self.grid is None:
            return None
        if self.bias < 1.0:
            return look + 1
        if self.pace == 0:
            return None
        earliest = self.time_of(look) + self.grid.distance_to_border(*position) / self.pace
        return max(look + 1, math.ceil((earliest - self.phase) / self.tick - 1e-9) + 1)


def subscribers(scenario: Scenario, seed: int) -> list[Interest]:
    """The subscribers of a run, in order of node; a function of the scenario and the seed alone."""
    content = scenario.content
    paces = _paces(scenario)
    chosen: list[Interest] = []
    for group, subscribing in scenario.workload.subscribe.items():
        random = Random(f"{seed}/subscribers/{group}")
        nodes = choose(scenario.nodes_of(group), subscribing.count, random)
        alike = round(subscribing.locality * len(nodes))
        common = _common(subscribing, content, seed) if alike else ()
        texts = () if subscribing.interest == "zone" else subscribing.interest
        listed = tuple(content.filter(text) for text in texts)
        deck = _shuffle(listed, seed, group) if subscribing.deal else []
        for place, node in enumerate(nodes):
            chosen.append(
                _interest(
                    subscribing,
                    _assigned_filters(deck, place, subscribing.choose or 1) if deck else listed,
                    content.grid,
                    node,
                    common if place < alike else None,
                    pace=paces[node],
                    seed=seed,
                )
            )
    return sorted(chosen, key=lambda interest: interest.node)


def _shuffle(listed: Sequence[Filter], seed: int, group: str) -> list[Filter]:
    deck = list(listed)
    Random(f"{seed}/deal/{group}").shuffle(deck)
    return deck


def _assigned_filters(deck: list[Filter], place: int, count: int) -> list[Filter]:
    """What the subscriber at a place is dealt: the next filters, from the beginning again after the last."""
    return [deck[(place * count + n) % len(deck)] for n in range(min(count, len(deck)))]


def _common(subscribing: SubscriberSettings, content: ScenarioContent, seed: int) -> tuple[Filter, ...]:
    if subscribing.common is not None:
        return (content.filter(subscribing.common),)
    grid = content.grid
    assert grid is not None, "a scenario without zones names the common interest"
    return (grid.filter(1 + Random(f"{seed}/common").randrange(len(grid))),)


def _interest(
    subscribing: SubscriberSettings,
    listed: Sequence[Filter],
    grid: ZoneGrid | None,
    node: NodeId,
    common: tuple[Filter, ...] | None,
    *,
    pace: float,
    seed: int,
) -> Interest:
    count = min(subscribing.choose or len(listed), len(listed))
    follows = common is None and subscribing.interest == "zone"
    if not follows and (common is not None or count == len(listed)):  # nothing is left to chance
        return Interest(
            node, common or tuple(listed), None, subscribing.tick, 0.0, pace, subscribing.bias, seed
        )
    random = Random(f"{seed}/interest/{node}")
    phase = subscribing.tick * random.random()
    fixed = (
        () if follows else tuple(listed[place] for place in sorted(random.sample(range(len(listed)), count)))
    )
    return Interest(
        node, fixed, grid if follows else None, subscribing.tick, phase, pace, subscribing.bias, seed
    )


def _paces(scenario: Scenario) -> list[float]:
    """The highest speed of each node [m/s], by node; infinite for the nodes that follow a movement file."""
    paces: list[float] = []
    for name, nodes in scenario.members():
        group = scenario.groups[name]
        speed = group.speed if group.mobility == "waypoint" else None
        paces += [0.0 if speed is None else speed.max] * len(nodes)
    for node in scenario.followers:
        paces[node] = math.inf
    return paces
