"""The publication schedule of a run, the same for every protocol."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId
from roamcast.scenario.content import ScenarioContent
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import Documents, PublisherSettings


class PlannedPublication(NamedTuple):
    """A scheduled publication; it is numbered when it is published, and skipped if the node does not work."""

    time: float
    publisher: NodeId
    event: Event
    size: int


class PlannedAdvertisement(NamedTuple):
    """An advertisement that a publisher sends when it starts."""

    node: NodeId
    filter: Filter


class PublicationSchedule(NamedTuple):
    """All publications of a run in order of time, and the advertisements."""

    publications: list[PlannedPublication]
    advertisements: list[PlannedAdvertisement]


def plan(scenario: Scenario, seed: int) -> PublicationSchedule:
    """Return the publication schedule of a run; it depends only on the scenario and the seed."""
    content = scenario.content
    if scenario.workload.schedule is not None:
        advertised = sorted({(row.publisher, row.type) for row, _ in content.scheduled})
        return PublicationSchedule(
            [
                PlannedPublication(row.time, row.publisher, event, row.size)
                for row, event in content.scheduled
            ],
            [PlannedAdvertisement(node, Filter.everything(content.types[name])) for node, name in advertised],
        )
    publications: list[PlannedPublication] = []
    advertisements = []
    for group, publishing in scenario.workload.publish.items():
        publishers = choose(scenario.nodes_of(group), publishing.count, Random(f"{seed}/publishers/{group}"))
        if publishing.content == "own-topics":
            for place, node in enumerate(publishers):
                assert content.topics is not None, "a scenario whose content is topics has topics"
                own = content.topics.share(place, len(publishers))
                if own:
                    publications += _generate_topics(scenario, publishing, node, own, seed)
                    advertisements.append(PlannedAdvertisement(node, content.topics.covering(own)))
            continue
        filters = _advertised(publishing, content, group)
        for node in publishers:
            publications += _generate(scenario, publishing, group, node, seed)
            advertisements += [PlannedAdvertisement(node, filter) for filter in filters]
    # Stable: the publications of each publisher are in order already.
    publications.sort(key=lambda planned: (planned.time, planned.publisher))
    return PublicationSchedule(publications, sorted(advertisements, key=lambda planned: planned.node))


def choose(nodes: range, count: int | None, random: Random) -> list[NodeId]:
    """Return `count` of `nodes` (all, if None) in random order; a smaller count gives a prefix."""
    shuffled = list(nodes)
    random.shuffle(shuffled)
    return shuffled if count is None else shuffled[:count]


def _generate(
    scenario: Scenario, publishing: PublisherSettings, group: str, node: NodeId, seed: int
) -> list[PlannedPublication]:
    clock = Random(f"{seed}/times/{node}")
    chance = Random(f"{seed}/content/{node}")
    return [
        PlannedPublication(
            time, node, _event(publishing, scenario.content, group, turn, chance), publishing.size
        )
        for turn, time in enumerate(_times(scenario, publishing, clock))
    ]


def _generate_topics(
    scenario: Scenario, publishing: PublisherSettings, node: NodeId, own: range, seed: int
) -> list[PlannedPublication]:
    """Return the publications of a publisher's topics, each with its own times, in order of time."""
    topics = scenario.content.topics
    assert topics is not None, "a scenario whose content is topics has topics"
    planned = []
    for topic in own:
        times = _times(scenario, publishing, Random(f"{seed}/times/{node}/{topic}"))
        planned += [PlannedPublication(time, node, topics.event(topic), publishing.size) for time in times]
    return sorted(planned, key=lambda each: each.time)


def _times(scenario: Scenario, publishing: PublisherSettings, clock: Random) -> Iterator[float]:
    """Yield the publication times [s], in bursts of `burst`.

    In a workload of requests only, publications continue through the quiet period at the end, since open
    requests wait for them and late publications are not expected anywhere.
    """
    requests_only = scenario.workload.request and not scenario.workload.subscribe
    end = scenario.duration if requests_only else scenario.duration - scenario.quiet
    first = time = clock.random() * publishing.every if publishing.phase == "random" else publishing.phase
    bursts = 0
    while time < end:
        for place in range(publishing.burst):
            if time + place * publishing.spacing < end:
                yield time + place * publishing.spacing
        bursts += 1
        if publishing.gaps == "even":
            time = first + bursts * publishing.every  # a sum of intervals would accumulate rounding errors
        else:
            time += clock.expovariate(1 / publishing.every)


def _event(
    publishing: PublisherSettings, content: ScenarioContent, group: str, turn: int, random: Random
) -> Event:
    if isinstance(publishing.content, str):
        grid = content.grid
        assert grid is not None, "a scenario whose content is zones has zones"
        zone = 1 + (turn % len(grid) if publishing.content == "each-zone" else random.randrange(len(grid)))
        return grid.event(zone)
    if isinstance(publishing.content, Documents):
        events = content.documents[group]
        return events[turn % len(events)] if publishing.content.order == "in-turn" else random.choice(events)
    values = publishing.content.values.items()
    drawn = {name: random.choice(value) if isinstance(value, list) else value for name, value in values}
    return content.types[publishing.content.type](drawn)


def _advertised(publishing: PublisherSettings, content: ScenarioContent, group: str) -> list[Filter]:
    """Return the filters that the publishers of a group advertise: one for each event type."""
    if publishing.advertise is not None:
        return [content.filter(publishing.advertise)]
    if isinstance(publishing.content, Documents):
        types = dict.fromkeys(event.type for event in content.documents[group])
        return [Filter.everything(type) for type in types]
    if isinstance(publishing.content, str):
        assert content.grid is not None, "a scenario whose content is zones has zones"
        return [Filter.everything(content.grid.type)]
    return [Filter.everything(content.types[publishing.content.type])]
