"""The request schedule of a run, derived from the seed and the same for every protocol."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId, Position
from roamcast.scenario.locality.hubs import place_hubs
from roamcast.scenario.locality.topics import AreaMap, TopicList
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import RequesterSettings
from roamcast.scenario.zones import ZoneGrid
from roamcast.sim.workload import choose, plan


class ShiftedTopics:
    """Topics drawn by Zipf's law, shifted by the area of the requester."""

    def __init__(self, topics: TopicList, areas: AreaMap | None, skew: float) -> None:
        self._topics = topics
        self._areas = areas
        self._weights = list(accumulate(place**-skew for place in range(1, len(topics) + 1)))
        self._random = Random(0)  # created once: creation costs as much as seeding

    def draw(self, chance: str, position: Position) -> Filter:
        """Return the filter of a topic drawn from the seed `chance`, for a requester at `position`."""
        self._random.seed(chance)
        rank = bisect(self._weights, self._random.random() * self._weights[-1])
        offset = 0 if self._areas is None else self._areas.offset_at(*position)
        return self._topics.filter(1 + (min(rank, len(self._topics) - 1) + offset) % len(self._topics))


class RequestPlan(NamedTuple):
    """The requests of one requester."""

    node: NodeId
    requesting: RequesterSettings
    listed: tuple[Filter, ...]
    "Filters to choose from; empty if requests are for the current zone."
    grid: ZoneGrid | None
    topics: ShiftedTopics | None
    "Topics that depend on the position, or None."
    end: float
    "Time from which no requests are sent [s]."
    seed: int

    def times(self) -> Iterator[float]:
        """Yield the times of the requests [s]; the first is random, which desynchronises requesters."""
        every = self.requesting.every
        clock = Random(f"{self.seed}/asking/{self.node}")
        even = self.requesting.gaps == "even"
        first = time = clock.random() * every if even else clock.expovariate(1 / every)
        number = 0
        while time < self.end:
            yield time
            number += 1
            time = first + number * every if even else time + clock.expovariate(1 / every)

    def filter_at(self, number: int, position: Position) -> Filter:
        """Return the filter of request number `number`, made at `position`."""
        if self.topics is not None:
            return self.topics.draw(f"{self.seed}/wish/{self.node}/{number}", position)
        if not self.listed:
            assert self.grid is not None, "a scenario whose requests are about zones has zones"
            return self.grid.filter(self.grid.zone_at(*position))
        weights = [place**-self.requesting.skew for place in range(1, len(self.listed) + 1)]
        return Random(f"{self.seed}/wish/{self.node}/{number}").choices(self.listed, weights)[0]


def requesters(scenario: Scenario, seed: int) -> list[RequestPlan]:
    """Return the requesters of a run by node; they depend only on the scenario and the seed."""
    content = scenario.content
    publish = {advertised.node for advertised in plan(scenario, seed).advertisements}
    chosen: list[RequestPlan] = []
    for group, requesting in scenario.workload.request.items():
        random = Random(f"{seed}/requesters/{group}")
        texts = [] if isinstance(requesting.interest, str) else requesting.interest
        topics = _shifted(scenario, requesting, seed) if requesting.interest == "topic" else None
        listed = [content.filter(text) for text in texts]
        count = min(requesting.choose or len(listed), len(listed))
        nodes = choose(scenario.nodes_of(group), None, random)
        if not requesting.publishers:
            nodes = [node for node in nodes if node not in publish]
        for node in nodes[: requesting.count]:
            places = sorted(Random(f"{seed}/wishes/{node}").sample(range(len(listed)), count))
            own = tuple(listed[place] for place in places)
            end = scenario.duration - scenario.quiet
            chosen.append(RequestPlan(node, requesting, own, content.grid, topics, end, seed))
    return sorted(chosen, key=lambda asking: asking.node)


def _shifted(scenario: Scenario, requesting: RequesterSettings, seed: int) -> ShiftedTopics:
    topics, areas = scenario.content.topics, scenario.workload.areas
    assert topics is not None, "a scenario whose requests are about topics has topics"
    hubs = place_hubs(scenario, seed)
    shifts = None if areas is None else AreaMap(scenario.area, areas, hubs, len(topics))
    return ShiftedTopics(topics, shifts, requesting.skew)
