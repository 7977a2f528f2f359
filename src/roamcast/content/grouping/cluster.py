"""Clusters of subscriptions, their cost, and the simplest clustering: one least constrained filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from roamcast.content.area_type import AreaType
from roamcast.content.box.field_order import missing
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.event import Event
from roamcast.content.field_type import Domain
from roamcast.content.filter import Filter, unite
from roamcast.content.grouping.hull import hull
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType


class FilterCluster(msgspec.Struct, frozen=True):
    """Subscriptions that share a channel, by their index in the given list, and the channel's filter."""

    members: tuple[int, ...]
    filter: Filter
    "Covers every member."


class GroupingCost(msgspec.Struct, frozen=True):
    """The cost of a clustering for some events."""

    channels: int
    sent: int
    "Number of (event, channel) pairs that were sent."
    deliveries: int
    "Number of (event, member) pairs that were delivered."
    unwanted: int
    "Number of deliveries to members whose filter does not match the event."

    @property
    def noise(self) -> float:
        """Share of deliveries that are unwanted."""
        return self.unwanted / self.deliveries if self.deliveries else 0.0


def cost(groups: Sequence[FilterCluster], filters: Sequence[Filter], events: Iterable[Event]) -> GroupingCost:
    """Return the cost of sending `events` on the channels of `groups`."""
    sent = deliveries = unwanted = 0
    for event in events:
        for group in groups:
            if group.filter.matches(event):
                sent += 1
                deliveries += len(group.members)
                unwanted += sum(not filters[place].matches(event) for place in group.members)
    return GroupingCost(len(groups), sent, deliveries, unwanted)


def least_constrained(filters: Sequence[Filter], event: Event | None = None) -> list[FilterCluster]:
    """Return one cluster per event type, whose filter has only the constraints common to all subscriptions.

    With an event, a cluster has only the subscriptions that match it, as a publisher would set it up (figure
    8).
    """
    groups = []
    for places in by_type(filters).values():
        chosen = [p for p in places if event is None or filters[p].matches(event)]
        if chosen:
            groups.append(FilterCluster(tuple(chosen), hull([filters[p] for p in chosen])))
    return groups


def by_type(filters: Sequence[Filter]) -> dict[EventType, list[int]]:
    """Return the indices of the filters of each type, without filters that match nothing."""
    places: dict[EventType, list[int]] = {}
    for place, filter in enumerate(filters):
        if not filter.empty:
            places.setdefault(filter.type, []).append(place)
    return places


def point(event: Event) -> Filter:
    """Return the filter that matches exactly this event; areas are only required to be present."""
    constraints: list[tuple[int, Domain]] = []
    for place, (field, stored) in enumerate(zip(event.type.fields, event.values, strict=True)):
        if isinstance(field.kind, RecordList):
            record = field.kind.record
            points = [point(Event(record, values)) for values in stored]
            others = ~unite(record, points) if points else Filter.everything(record)
            constraints.append((place, RecordListSet.where(points, others)))
            continue
        text = field.kind.name == "string"
        if stored is None:
            constraints.append((place, missing(event.type.everything[place], absent=True)))
        elif isinstance(field.kind, AreaType):
            constraints.append((place, field.kind.present()))
        else:
            constraints.append((place, StringSet((stored,)) if text else RangeSet(((stored, stored),))))
    return Filter.of(event.type, [constraints])
