"""Who asks for what and when: requests drawn from the seed, the same for every protocol."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId, Position
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import Requesting
from roamcast.scenario.zones import ZoneGrid
from roamcast.sim.workload import choose


class Asking(NamedTuple):
    """What one requester asks for."""

    node: NodeId
    requesting: Requesting
    listed: tuple[Filter, ...]
    "What it chooses from, if it does not ask for the zone where it is."
    grid: ZoneGrid | None
    end: float
    "It asks nothing from then on."
    seed: int

    def times(self) -> Iterator[float]:
        """When it asks; the first time at random, so that requesters do not march in step."""
        every = self.requesting.every
        clock = Random(f"{self.seed}/asking/{self.node}")
        even = self.requesting.gaps == "even"
        first = time = clock.random() * every if even else clock.expovariate(1 / every)
        number = 0
        while time < self.end:
            yield time
            number += 1
            time = first + number * every if even else time + clock.expovariate(1 / every)

    def wish(self, number: int, position: Position) -> Filter:
        """What its request number `number` asks for, made at `position`."""
        if not self.listed:
            assert self.grid is not None, "a scenario whose requests are about zones has zones"
            return self.grid.filter(self.grid.zone_at(*position))
        weights = [place**-self.requesting.skew for place in range(1, len(self.listed) + 1)]
        return Random(f"{self.seed}/wish/{self.node}/{number}").choices(self.listed, weights)[0]


def requesters(scenario: Scenario, seed: int) -> list[Asking]:
    """The requesters of a run, in order of node; a function of the scenario and the seed alone."""
    content = scenario.content
    chosen: list[Asking] = []
    for group, requesting in scenario.workload.request.items():
        random = Random(f"{seed}/requesters/{group}")
        texts = [] if requesting.interest == "zone" else requesting.interest
        listed = [content.filter(text) for text in texts]
        count = min(requesting.choose or len(listed), len(listed))
        for node in choose(scenario.nodes_of(group), requesting.count, random):
            places = sorted(Random(f"{seed}/wishes/{node}").sample(range(len(listed)), count))
            own = tuple(listed[place] for place in places)
            end = scenario.duration - scenario.quiet
            chosen.append(Asking(node, requesting, own, content.grid, end, seed))
    return sorted(chosen, key=lambda asking: asking.node)
