"""Topics: events and filters by topic number, shifted by the requester's location."""

from __future__ import annotations

from roamcast.content.event import Event
from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.scenario.locality.hubs import Square
from roamcast.scenario.model import Area
from roamcast.scenario.workload import InterestAreas, Topics


class TopicList:
    """The topics of a scenario, numbered from 1."""

    def __init__(self, topics: Topics) -> None:
        numbers = range(1, topics.count + 1)
        self.type = EventType(topics.type, {"topic": Integer(1, topics.count)})
        self.events = [self.type(topic=number) for number in numbers]
        self.filters = [self.type.topic == number for number in numbers]

    def __len__(self) -> int:
        return len(self.events)

    def event(self, topic: int) -> Event:
        """Return an event about a topic."""
        return self.events[topic - 1]

    def filter(self, topic: int) -> Filter:
        """Return the filter for the events about a topic."""
        return self.filters[topic - 1]

    def share(self, place: int, of: int) -> range:
        """Return the topics of publisher number `place` (from 0) of `of` publishers."""
        return range(1 + place * len(self) // of, 1 + (place + 1) * len(self) // of)

    def covering(self, topics: range) -> Filter:
        """Return the filter that covers a range of topics."""
        return (self.type.topic >= topics.start) & (self.type.topic < topics.stop)


class AreaMap:
    """Maps a location to its area and to the area's topic offset."""

    def __init__(self, area: Area, areas: InterestAreas, hubs: list[Square], topics: int) -> None:
        self._area = area
        self._quarters = areas.quarters
        self._hubs = hubs
        count = areas.quarters**2 + len(hubs)
        self._of_hubs = list(areas.hubs) if areas.hubs is not None else list(range(len(hubs)))
        self._of_quarters = [number for number in range(count) if number not in self._of_hubs]
        self._offsets = [_offset(areas.offset, number, count, topics) for number in range(count)]

    def number_at(self, x: float, y: float) -> int:
        """Return the number of the area at a location: a hub or, outside of hubs, a quarter."""
        for number, hub in zip(self._of_hubs, self._hubs, strict=True):
            if hub.contains(x, y):
                return number
        along = (x / self._area.width, y / self._area.height)
        column, row = (min(max(int(share * self._quarters), 0), self._quarters - 1) for share in along)
        return self._of_quarters[row * self._quarters + column]

    def offset_at(self, x: float, y: float) -> int:
        """Return the offset that is added to a topic's number at a location."""
        return self._offsets[self.number_at(x, y)]


def _offset(rule: str, number: int, areas: int, topics: int) -> int:
    if rule == "spread":
        return number * topics // areas
    return topics % number if rule == "literal" and number else 0
