"""The plan of a run's publications: who publishes what and when, the same for every protocol."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.router import NodeId, Publication
from roamcast.scenario.content import event_types, read_filter, scheduled_events
from roamcast.scenario.model import Scenario
from roamcast.scenario.workload import Publishing
from roamcast.scenario.zones import ZoneGrid


class Planned(NamedTuple):
    """A publication to come."""

    time: float
    publication: Publication


class Advertised(NamedTuple):
    """What a publisher says, before it starts, that it is going to publish."""

    node: NodeId
    offered: Filter


class Plan(NamedTuple):
    """All that the applications of a run will publish, in order of time."""

    publications: list[Planned]
    advertisements: list[Advertised]


class _Draft(NamedTuple):
    time: float
    publisher: NodeId
    turn: int
    event: Event
    size: int


def plan(scenario: Scenario, seed: int) -> Plan:
    """Plan the publications of a run; a function of the scenario and the seed alone."""
    types = event_types(scenario)
    if scenario.workload.schedule is not None:
        events = scheduled_events(scenario, types)
        drafts = [_Draft(row.time, row.publisher, turn, e, row.size) for turn, (row, e) in enumerate(events)]
        said = sorted({(row.publisher, row.type) for row, _ in events})
        offers = [Advertised(node, Filter.everything(types[name])) for node, name in said]
        return Plan(_number(drafts), offers)
    drafts = []
    advertisements = []
    for group, publishing in scenario.workload.publish.items():
        grid = _grid(scenario)
        publishers = choose(scenario.nodes_of(group), publishing.count, Random(f"{seed}/publishers/{group}"))
        for node in publishers:
            drafts += _generate(scenario, publishing, types, grid, node, seed=seed)
            advertisements.append(Advertised(node, _offered(publishing, types, grid)))
    drafts.sort(key=lambda draft: (draft.time, draft.publisher, draft.turn))
    return Plan(_number(drafts), sorted(advertisements, key=lambda advertised: advertised.node))


def choose(nodes: range, count: int | None, random: Random) -> list[NodeId]:
    """`count` of `nodes` (all, if None) in the order drawn: fewer are always among more."""
    shuffled = list(nodes)
    random.shuffle(shuffled)
    return shuffled if count is None else shuffled[:count]


def _grid(scenario: Scenario) -> ZoneGrid | None:
    zones = scenario.workload.zones
    return ZoneGrid(scenario.area, zones) if zones is not None else None


def _generate(
    scenario: Scenario,
    publishing: Publishing,
    types: dict[str, EventType],
    grid: ZoneGrid | None,
    node: NodeId,
    *,
    seed: int,
) -> list[_Draft]:
    clock = Random(f"{seed}/times/{node}")
    content = Random(f"{seed}/content/{node}")
    end = scenario.duration - scenario.quiet
    drafts: list[_Draft] = []
    time = clock.random() * publishing.every if publishing.phase == "random" else publishing.phase
    bursts = 0
    first = time
    while time < end:
        for place in range(publishing.burst):
            when = time + place * publishing.spacing
            if when < end:
                event = _event(publishing, types, grid, len(drafts), content)
                drafts.append(_Draft(when, node, len(drafts), event, publishing.size))
        bursts += 1
        if publishing.gaps == "even":
            time = first + bursts * publishing.every  # a sum of gaps would drift by rounding
        else:
            time += clock.expovariate(1 / publishing.every)
    return drafts


def _event(
    publishing: Publishing, types: dict[str, EventType], grid: ZoneGrid | None, turn: int, random: Random
) -> Event:
    if isinstance(publishing.content, str):
        assert grid is not None, "a scenario whose content is zones has zones"
        zone = 1 + (turn % len(grid) if publishing.content == "each-zone" else random.randrange(len(grid)))
        return grid.event(zone)
    values = publishing.content.values.items()
    drawn = {name: random.choice(value) if isinstance(value, list) else value for name, value in values}
    return types[publishing.content.type](drawn)


def _offered(publishing: Publishing, types: dict[str, EventType], grid: ZoneGrid | None) -> Filter:
    if publishing.advertise is not None:
        return read_filter(publishing.advertise, types)
    if isinstance(publishing.content, str):
        assert grid is not None, "a scenario whose content is zones has zones"
        return Filter.everything(grid.type)
    return Filter.everything(types[publishing.content.type])


def _number(drafts: list[_Draft]) -> list[Planned]:
    sequences: dict[NodeId, int] = {}
    planned = []
    for draft in drafts:
        sequence = sequences[draft.publisher] = sequences.get(draft.publisher, 0) + 1
        planned.append(Planned(draft.time, Publication(draft.publisher, sequence, draft.event, draft.size)))
    return planned
