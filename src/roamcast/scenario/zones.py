"""Zones: the mapping of positions to zone numbers, and events and filters by zone."""

from __future__ import annotations

import math

from roamcast.content.event import Event
from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.scenario.model import Area
from roamcast.scenario.workload import Zones


class ZoneGrid:
    """The squares of a scenario, numbered from 1, west to east and then south to north."""

    def __init__(self, area: Area, zones: Zones) -> None:
        self.side = zones.side
        self.columns = max(1, math.ceil(area.width / zones.side - 1e-9))
        self.rows = max(1, math.ceil(area.height / zones.side - 1e-9))
        numbers = range(1, len(self) + 1)
        self.type = EventType(zones.type, {"zone": Integer(1, len(self))})
        self.events = [self.type(zone=number) for number in numbers]
        self.filters = [self.type.zone == number for number in numbers]

    def __len__(self) -> int:
        return self.columns * self.rows

    def zone_at(self, x: float, y: float) -> int:
        """Return the number of the zone at a position; the far edges belong to the last zones."""
        column = min(max(int(x // self.side), 0), self.columns - 1)
        row = min(max(int(y // self.side), 0), self.rows - 1)
        return row * self.columns + column + 1

    def distance_to_border(self, x: float, y: float) -> float:
        """Return the distance from a position to the nearest border of its zone [m]."""
        side = self.side
        return min(x % side, side - x % side, y % side, side - y % side)

    def event(self, zone: int) -> Event:
        """Return an event about a zone."""
        return self.events[zone - 1]

    def filter(self, zone: int) -> Filter:
        """Return the filter for the events about a zone."""
        return self.filters[zone - 1]
