"""The content of a scenario: its event types, and its filters as text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from roamcast.content.declare import declare_type, infer_type
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.scenario.model import Scenario
from roamcast.scenario.schedule import read_schedule
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
