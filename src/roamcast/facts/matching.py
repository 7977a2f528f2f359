"""Matching: whether an event in the facts is one that a filter in the facts wants, by our own filters."""

from __future__ import annotations

from functools import lru_cache

from roamcast.content.declare import declare_type
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.facts.tables import FactsError, RunManifest


def event_types(run: RunManifest) -> dict[str, EventType]:
    """The event types of a run by name, as its resolved scenario declares them."""
    try:
        return {name: declare_type(name, told) for name, told in run.resolved["workload"]["types"].items()}
    except KeyError:
        raise FactsError("these facts do not tell the event types of their scenario") from None
    except (ContentError, AttributeError) as error:
        raise FactsError(f"these facts tell event types that cannot be: {error}") from None


class Matcher:
    """Reads the events (JSON) and filters (XPath) of one run, each text once."""

    def __init__(self, run: RunManifest) -> None:
        self.types = event_types(run)
        self.event = lru_cache(maxsize=1 << 14)(self._event)
        self.filter = lru_cache(maxsize=1 << 14)(self._filter)

    def matches(self, wanted: str, event: str) -> bool:
        """Whether the filter `wanted` matches `event`."""
        return self.filter(wanted).matches(self.event(event))

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
