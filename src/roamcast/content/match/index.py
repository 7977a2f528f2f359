"""The match index: finds the filters that match an event, faster than testing each filter."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from roamcast.content.area_type import AreaType
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match.compiled import FieldIndex
from roamcast.content.match.derived import needs_derived
from roamcast.content.match.repeating import RecordsIndex, letter
from roamcast.content.schema import EventType

Key = TypeVar("Key", bound=Hashable)


class MatchIndex(Generic[Key]):
    """Filters of any event types by key, one filter per key.

    The order of the keys that `match` returns depends only on the preceding calls of `add` and `remove`.
    """

    def __init__(self) -> None:
        self._types: dict[int, _OfType] = {}
        "By `id` of the event type, which is faster than its hash."
        self._places: dict[Key, tuple[FieldIndex | RecordsIndex, int]] = {}
        "The index that holds each key, and the key's number there."

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def add(self, key: Key, filter: Filter) -> None:
        """Register `filter` under `key`, replacing its previous filter."""
        if key in self._places:
            self.remove(key)
        of_type = self._types.get(id(filter.type))
        if of_type is None:
            of_type = self._types[id(filter.type)] = _OfType(filter.type)
        if of_type.flat is None or needs_derived(filter):
            records = of_type.records_index()
            self._places[key] = records, records.add(key, filter)
        else:
            self._places[key] = of_type.flat, of_type.flat.add(key, filter.conjunctions)

    def remove(self, key: Key) -> bool:
        """Remove `key`; return whether it was registered."""
        place = self._places.pop(key, None)
        if place is None:
            return False
        index, number = place
        index.remove(number)
        return True

    def match(self, event: Event) -> list[Key]:
        """Return the keys whose filter matches `event`."""
        of_type = self._types.get(id(event.type))
        if of_type is None:
            return []
        if of_type.flat is None:
            return of_type.records_index().match(event)
        found = of_type.flat.match(event.values)
        if of_type.records is not None:
            found += of_type.records.match(event)
        return found

    def bytes(self) -> int:
        """Return the memory of the compiled index [B], without keys and filters."""
        return sum(of_type.bytes() for of_type in self._types.values())


class _OfType:
    """The filters of one event type."""

    __slots__ = ("flat", "records", "type")

    def __init__(self, type: EventType) -> None:
        self.type = type
        repeating = type.record_depth or any(isinstance(field.kind, AreaType) for field in type.fields)
        self.flat = None if repeating else FieldIndex("".join(letter(field.kind) for field in type.fields))
        "None if the type has repeated elements or areas."
        self.records: RecordsIndex | None = None
        "Of a type without repeated elements: the filters that need derived fields."

    def records_index(self) -> RecordsIndex:
        if self.records is None:
            self.records = RecordsIndex(self.type)
        return self.records

    def bytes(self) -> int:
        return sum(index.bytes() for index in (self.flat, self.records) if index is not None)
