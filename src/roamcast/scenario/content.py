"""The content of a scenario, read once: event types, zones, scheduled events and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

from roamcast.content.declare import declare_type, infer_type
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.schema_file import load_schema, read_document
from roamcast.errors import UserError
from roamcast.scenario.consistency import too_large
from roamcast.scenario.locality.topics import TopicList
from roamcast.scenario.traces.schedule import ScheduledPublication, ScheduleError, read_cells, read_schedule
from roamcast.scenario.workload import Documents, EventTemplate
from roamcast.scenario.zones import ZoneGrid

if TYPE_CHECKING:
    from pathlib import Path

    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.xml.xsd import XmlSchema
    from roamcast.scenario.model import Scenario

T = TypeVar("T")


class ContentProblem(UserError):
    """An invalid event type, template or filter, with the key of the scenario that declares it."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class ScenarioContent:
    """The event types, filters, documents and schedule of a scenario; see `Scenario.content`."""

    def __init__(self, scenario: Scenario) -> None:
        workload = scenario.workload
        declared = {
            name: _understand(f"workload.types.{name}", declare_type, name, fields)
            for name, fields in workload.types.items()
        }
        self.schemas = [_understand("workload.schema", load_schema, path) for path in workload.schemas]
        "The schemas, in the order of their files."
        for schema in self.schemas:
            for name, type in schema.types.items():
                if declared.setdefault(name, type) != type:
                    problem = f"the event type {name!r} is declared twice, with different fields"
                    raise ContentProblem("workload.schema", problem)
        rows = (
            read_schedule(workload.schedule, scenario.count, scenario.duration) if workload.schedule else []
        )
        try:
            self.grid = ZoneGrid(scenario.area, workload.zones) if workload.zones is not None else None
            "The zones, or None."
            self.topics = TopicList(workload.topics) if workload.topics is not None else None
            "The topics, or None."
            known = self._known(declared)
            self.types = known | _infer(known, scenario, rows)
            "The event types by name: declared, of schemas, zones or topics, or inferred from publications."
        except ContentError as error:
            if workload.schedule is None:
                raise ContentProblem("workload.publish", str(error)) from None
            raise ContentProblem("workload.schedule", f"{workload.schedule}: {error}") from None
        self.documents: dict[str, list[Event]] = {
            group: self._read_documents(group, publishing.content)
            for group, publishing in workload.publish.items()
            if isinstance(publishing.content, Documents)
        }
        "The events in the documents of each group that publishes documents."
        self._filters: dict[str, Filter] = {}
        self._check_templates(scenario)
        for key, text in _filter_texts(scenario):
            _understand(key, self.filter, text)
        self.scheduled: list[tuple[ScheduledPublication, Event]] = []
        "The lines of the schedule, each with its event."
        for row in rows:
            if row.size > scenario.mac.max_message:
                problem = too_large(row.size, scenario.mac.max_message)
                raise ScheduleError(f"{workload.schedule}:{row.line}: size: {problem}")
            try:
                event = self.types[row.type](read_cells(row, known.get(row.type)))
            except ContentError as error:
                raise ScheduleError(f"{workload.schedule}:{row.line}: {error}") from None
            self.scheduled.append((row, event))

    def filter(self, text: str) -> Filter:
        """Return the filter of an XPath text; equal texts give the same object."""
        found = self._filters.get(text)
        if found is None:
            found = self._filters[text] = Filter.parse(text, self.types)
        return found

    def _read_documents(self, group: str, content: Documents) -> list[Event]:
        key = f"workload.publish.{group}.content.documents"
        return [_understand(key, _read_any, self.schemas, path) for path in content.documents]

    def _known(self, declared: dict[str, EventType]) -> dict[str, EventType]:
        """Return the event types that are not inferred, by name: declared, of schemas, zones or topics."""
        types = dict(declared)
        if self.grid is not None:
            types.setdefault(self.grid.type.name, self.grid.type)
        if self.topics is not None:
            types.setdefault(self.topics.type.name, self.topics.type)
        return types

    def _check_templates(self, scenario: Scenario) -> None:
        for group, publishing in scenario.workload.publish.items():
            if isinstance(publishing.content, EventTemplate):
                made = self.types[publishing.content.type]
                for sample in _samples(publishing.content):
                    _understand(f"workload.publish.{group}.content", made, sample)


def _infer(
    known: Mapping[str, EventType], scenario: Scenario, rows: list[ScheduledPublication]
) -> dict[str, EventType]:
    """Return the types of all publications that are not of a `known` type, by name."""
    samples: dict[str, list[Mapping[str, Any]]] = {}
    for publishing in scenario.workload.publish.values():
        if isinstance(publishing.content, EventTemplate) and publishing.content.type not in known:
            samples.setdefault(publishing.content.type, []).extend(_samples(publishing.content))
    for row in rows:
        if row.type not in known:
            samples.setdefault(row.type, []).append(read_cells(row, None))
    return {name: infer_type(name, values) for name, values in samples.items()}


def _understand(key: str, read: Callable[..., T], *arguments: Any) -> T:
    try:
        return read(*arguments)
    except ContentError as error:
        raise ContentProblem(key, str(error)) from None


def _read_any(schemas: list[XmlSchema | JsonSchema], path: Path) -> Event:
    """Return the event in a document by the first schema that accepts it; else raise the last one's error."""
    for schema in schemas[:-1]:
        try:
            return read_document(schema, path)
        except ContentError:
            continue
    return read_document(schemas[-1], path)


def _filter_texts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield every filter text in the scenario, with its key."""
    workload = scenario.workload
    for group, publishing in workload.publish.items():
        if publishing.advertise is not None:
            yield f"workload.publish.{group}.advertise", publishing.advertise
    for group, subscribing in workload.subscribe.items():
        if subscribing.interest != "zone":
            yield from ((f"workload.subscribe.{group}.interest", text) for text in subscribing.interest)
        if subscribing.common is not None:
            yield f"workload.subscribe.{group}.common", subscribing.common
    for group, requesting in workload.request.items():
        if not isinstance(requesting.interest, str):
            yield from ((f"workload.request.{group}.interest", text) for text in requesting.interest)


def _samples(template: EventTemplate) -> list[dict[str, Any]]:
    """Return events of the template that together have every value that it can draw."""
    names = list(template.values)
    choices = [value if isinstance(value, list) else [value] for value in template.values.values()]
    return [
        {
            name: drawn if drawn is not None else choice[0]
            for name, drawn, choice in zip(names, row, choices, strict=True)
        }
        for row in zip_longest(*choices)
    ] or [{}]
