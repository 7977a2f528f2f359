"""The content of a scenario: its event types, and its filters as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from roamcast.content.declare import declare_type, infer_type
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.scenario.model import Scenario
from roamcast.scenario.schedule import Scheduled, ScheduleError, read_schedule
from roamcast.scenario.workload import Template
from roamcast.scenario.zones import ZoneGrid


def event_types(scenario: Scenario) -> dict[str, EventType]:
    """The event types of a scenario by name: declared, of its zones, or inferred from what is published."""
    workload = scenario.workload
    types = {name: declare_type(name, fields) for name, fields in workload.types.items()}
    if workload.zones is not None:
        grid = ZoneGrid(scenario.area, workload.zones)
        types.setdefault(grid.type.name, grid.type)
    samples: dict[str, list[Mapping[str, Any]]] = {}
    for publishing in workload.publish.values():
        if isinstance(publishing.content, Template):
            samples.setdefault(publishing.content.type, []).extend(_samples(publishing.content))
    if workload.schedule is not None:
        for row in read_schedule(workload.schedule, scenario.count, scenario.duration):
            samples.setdefault(row.type, []).append(row.values)
    for name, values in samples.items():
        if name not in types:
            types[name] = infer_type(name, values)
    return types


def scheduled_events(scenario: Scenario, types: Mapping[str, EventType]) -> list[tuple[Scheduled, Event]]:
    """The lines of the scenario's schedule, each with its event."""
    path = scenario.workload.schedule
    if path is None:
        return []
    rows = read_schedule(path, scenario.count, scenario.duration)
    try:
        return [(row, types[row.type](row.values)) for row in rows]
    except ContentError as error:
        raise ScheduleError(f"{path}: {error}") from None


def misunderstandings(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """What is wrong with the scenario's types, templates and filters: the key, and the problem."""
    workload = scenario.workload
    for name, fields in workload.types.items():
        try:
            declare_type(name, fields)
        except ContentError as error:
            yield f"workload.types.{name}", str(error)
            return
    try:
        types = event_types(scenario)
    except ContentError as error:
        if workload.schedule is None:
            yield "workload.publish", str(error)
        else:
            yield "workload.schedule", f"{workload.schedule}: {error}"
        return
    for group, publishing in workload.publish.items():
        key = f"workload.publish.{group}"
        if isinstance(publishing.content, Template):
            for sample in _samples(publishing.content):
                yield from _complaints(f"{key}.content", types[publishing.content.type], sample)
        if publishing.advertise is not None:
            yield from _complaints(f"{key}.advertise", read_filter, publishing.advertise, types)
    for group, subscribing in workload.subscribe.items():
        key = f"workload.subscribe.{group}"
        for text in subscribing.interest if isinstance(subscribing.interest, list) else ():
            yield from _complaints(f"{key}.interest", read_filter, text, types)
        if subscribing.common is not None:
            yield from _complaints(f"{key}.common", read_filter, subscribing.common, types)
    scheduled_events(scenario, types)


def _complaints(key: str, make: Any, *arguments: Any) -> Iterator[tuple[str, str]]:
    try:
        make(*arguments)
    except ContentError as error:
        yield key, str(error)


def read_filter(text: str, types: Mapping[str, EventType]) -> Filter:
    """The filter that `text` (XPath) means."""
    return Filter.parse(text, types)


def _samples(template: Template) -> list[dict[str, Any]]:
    """Events of the template that together show every value that it can draw."""
    names = list(template.values)
    choices = [value if isinstance(value, list) else [value] for value in template.values.values()]
    return [
        {
            name: drawn if drawn is not None else choice[0]
            for name, drawn, choice in zip(names, row, choices, strict=True)
        }
        for row in zip_longest(*choices)
    ] or [{}]
