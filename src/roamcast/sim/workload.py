"""The plan of a run's publications: who publishes what and when, the same for every protocol."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.router import NodeId
from roamcast.scenario.content import Content
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import Publishing


class Planned(NamedTuple):
    """A publication to come, if its publisher is alive then; it is numbered when it is published."""

    time: float
    publisher: NodeId
    event: Event
    size: int


class Advertised(NamedTuple):
    """What a publisher says, before it starts, that it is going to publish."""

    node: NodeId
    offered: Filter


class Plan(NamedTuple):
    """All that the applications of a run will publish, in order of time."""

    publications: list[Planned]
    advertisements: list[Advertised]


def plan(scenario: Scenario, seed: int) -> Plan:
    """Plan the publications of a run; a function of the scenario and the seed alone."""
    content = scenario.content
    if scenario.workload.schedule is not None:
        said = sorted({(row.publisher, row.type) for row, _ in content.scheduled})
        return Plan(
            [Planned(row.time, row.publisher, event, row.size) for row, event in content.scheduled],
            [Advertised(node, Filter.everything(content.types[name])) for node, name in said],
        )
    publications: list[Planned] = []
    advertisements = []
    for group, publishing in scenario.workload.publish.items():
        publishers = choose(scenario.nodes_of(group), publishing.count, Random(f"{seed}/publishers/{group}"))
        offered = _offered(publishing, content)
        for node in publishers:
            publications += _generate(scenario, publishing, node, seed)
            advertisements.append(Advertised(node, offered))
    # A publisher's own are in order already, and stay so.
    publications.sort(key=lambda planned: (planned.time, planned.publisher))
    return Plan(publications, sorted(advertisements, key=lambda advertised: advertised.node))


def choose(nodes: range, count: int | None, random: Random) -> list[NodeId]:
    """`count` of `nodes` (all, if None) in the order drawn: fewer are always among more."""
    shuffled = list(nodes)
    random.shuffle(shuffled)
    return shuffled if count is None else shuffled[:count]


def _generate(scenario: Scenario, publishing: Publishing, node: NodeId, seed: int) -> list[Planned]:
    clock = Random(f"{seed}/times/{node}")
    chance = Random(f"{seed}/content/{node}")
    end = scenario.duration - scenario.quiet
    planned: list[Planned] = []
    time = clock.random() * publishing.every if publishing.phase == "random" else publishing.phase
    bursts = 0
    first = time
    while time < end:
        for place in range(publishing.burst):
            when = time + place * publishing.spacing
            if when < end:
                event = _event(publishing, scenario.content, len(planned), chance)
                planned.append(Planned(when, node, event, publishing.size))
        bursts += 1
        if publishing.gaps == "even":
            time = first + bursts * publishing.every  # a sum of gaps would drift by rounding
        else:
            time += clock.expovariate(1 / publishing.every)
    return planned


def _event(publishing: Publishing, content: Content, turn: int, random: Random) -> Event:
    if isinstance(publishing.content, str):
        grid = content.grid
        assert grid is not None, "a scenario whose content is zones has zones"
        zone = 1 + (turn % len(grid) if publishing.content == "each-zone" else random.randrange(len(grid)))
        return grid.event(zone)
    values = publishing.content.values.items()
    drawn = {name: random.choice(value) if isinstance(value, list) else value for name, value in values}
    return content.types[publishing.content.type](drawn)


def _offered(publishing: Publishing, content: Content) -> Filter:
    if publishing.advertise is not None:
        return content.filter(publishing.advertise)
    if isinstance(publishing.content, str):
        assert content.grid is not None, "a scenario whose content is zones has zones"
        return Filter.everything(content.grid.type)
    return Filter.everything(content.types[publishing.content.type])
