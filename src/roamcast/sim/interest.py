"""Interests of subscribers: fixed, common, or dependent on the position."""

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
    """The interests of one subscriber, as a function of its position."""

    node: NodeId
    fixed: tuple[Filter, ...]
    "The fixed interests; empty if they depend on the position."
    grid: ZoneGrid | None
    "The zones on which the interest depends, or None."
    tick: float
    "Position polling interval [s]."
    phase: float
    "Time of the second poll [s], random to desynchronise subscribers; the first poll is at 0."
    pace: float
    "Maximum speed of the node [m/s]."
    bias: float
    "Probability that a poll selects the current zone; otherwise it selects a random one."
    seed: int

    @property
    def follows(self) -> bool:
        """Whether the interest depends on the position."""
        return self.grid is not None

    def filters_at(self, position: Position, look: int) -> tuple[Filter, ...]:
        """Return the interests after poll number `look` (from 0) at `position`."""
        if self.grid is None:
            return self.fixed
        if self.bias < 1.0:
            random = Random(f"{self.seed}/look/{self.node}/{look}")
            if random.random() >= self.bias:
                return (self.grid.filter(1 + random.randrange(len(self.grid))),)
        return (self.grid.filter(self.grid.zone_at(*position)),)

    def time_of(self, look: int) -> float:
        """Return the time of poll number `look` [s]."""
        return self.phase + (look - 1) * self.tick if look else 0.0

    def last_poll(self, now: float) -> int:
        """Return the number of the last poll that is due at `now`."""
        return 0 if now < self.phase else math.floor((now - self.phase) / self.tick + 1e-9) + 1

    def next_poll(self, position: Position, look: int) -> int | None:
        """Return the first poll after `look` that may find the node in another zone; None if none can.

        A node far from the border of its zone cannot leave it before the next polls, which are skipped.
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
    """Return the subscribers of a run by node; they depend only on the scenario and the seed."""
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
    """Return the filters of the subscriber at an index: the next `count` of the deck, cyclically."""
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
    if not follows and (common is not None or count == len(listed)):  # no random choice
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
    """Return the maximum speed of each node [m/s]; infinite for nodes that follow a movement file."""
    paces: list[float] = []
    for name, nodes in scenario.members():
        group = scenario.groups[name]
        speed = group.speed if group.mobility == "waypoint" else None
        paces += [0.0 if speed is None else speed.max] * len(nodes)
    for node in scenario.followers:
        paces[node] = math.inf
    return paces
