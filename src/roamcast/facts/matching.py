"""Match the events of the facts against the filters of the facts."""

from __future__ import annotations

from functools import lru_cache

from roamcast.content.declare import declare_type
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.facts.tables import FactsError, RunManifest


def event_types(run: RunManifest) -> dict[str, EventType]:
    """Return the event types of a run by name, from its resolved scenario."""
    try:
        return {
            name: declare_type(name, declaration)
            for name, declaration in run.resolved["workload"]["types"].items()
        }
    except KeyError:
        raise FactsError("run.json: the event types (resolved.workload.types) are missing") from None
    except (ContentError, AttributeError) as error:
        raise FactsError(f"run.json: invalid event types: {error}") from None


class Matcher:
    """Parses and matches the events (JSON) and filters (XPath) of one run, with a cache."""

    def __init__(self, run: RunManifest) -> None:
        self.types = event_types(run)
        self.event = lru_cache(maxsize=1 << 14)(self._event)
        self.filter = lru_cache(maxsize=1 << 14)(self._filter)

    def matches(self, filter: str, event: str) -> bool:
        """Return whether `filter` matches `event`."""
        return self.filter(filter).matches(self.event(event))

    def _event(self, text: str) -> Event:
        try:
            return Event.from_json(text, self.types)
        except ContentError as error:
            raise FactsError(f"an event in the facts cannot be read: {error}") from None

    def _filter(self, text: str) -> Filter:
        try:
            return Filter.parse(text, self.types)
        except ContentError as error:
            raise FactsError(f"a filter in the facts cannot be read: {error}") from None
