"""The match index: which of many filters match an event, in far less time than asking each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

from roamcast._kernel import MatchIndex as KernelIndex
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match.beside import asks_beside
from roamcast.content.match.repeating import RecordsIndex, letter
from roamcast.content.schema import EventType

Key = TypeVar("Key", bound=Hashable)


class MatchIndex(Generic[Key]):
    """Filters by key, of any event types; a key has one filter.

    `match` gives keys in an order that depends only on the adds and removes before it.
    """

    def __init__(self) -> None:
        self._types: dict[EventType, _OfType] = {}
        self._places: dict[Key, tuple[EventType, int]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def add(self, key: Key, filter: Filter) -> None:
        """Have `key` want what `filter` matches, instead of what it wanted before."""
        if key in self._places:
            self.remove(key)
        of_type = self._types.get(filter.type)
        if of_type is None:
            of_type = self._types[filter.type] = _OfType(filter.type)
        self._places[key] = (filter.type, of_type.add(key, filter))

    def remove(self, key: Key) -> bool:
        """Forget `key`; says whether it was there."""
        place = self._places.pop(key, None)
        if place is None:
            return False
        self._types[place[0]].remove(place[1])
        return True

    def match(self, event: Event) -> list[Key]:
        """The keys whose filter matches `event`."""
        of_type = self._types.get(event.type)
        if of_type is None:
            return []
        return of_type.match(event)

    def bytes(self) -> int:
        """Memory of the compiled index, without keys and filters."""
        return sum(of_type.bytes() for of_type in self._types.values())


class _OfType:
    """The filters of one type, numbered; numbers of removed ones are used again."""

    def __init__(self, type: EventType) -> None:
        self.records = RecordsIndex(type) if type.record_depth else None
        "In place of the kernel's own index where elements repeat."
        self.kernel = KernelIndex("".join(letter(f.kind) for f in type.fields) if not self.records else "")
        self.beside: RecordsIndex | None = None
        "Of a flat type: for the filters that ask more than what each field is."
        self.type = type
        self.keys: list[Any] = []
        self.free: list[int] = []

    def add(self, key: Any, filter: Filter) -> int:
        if self.free:
            number = self.free.pop()
            self.keys[number] = key
        else:
            number = len(self.keys)
            self.keys.append(key)
        if self.records is not None:
            self.records.add(number, filter)
        elif asks_beside(filter):
            if self.beside is None:
                self.beside = RecordsIndex(self.type)
            self.beside.add(number, filter)
        else:
            self.kernel.add(number, filter.conjunctions)
        return number

    def remove(self, number: int) -> None:
        if self.records is not None:
            self.records.remove(number)
        elif self.beside is not None and number in self.beside:
            self.beside.remove(number)
        else:
            self.kernel.remove(number)
        self.keys[number] = None
        self.free.append(number)

    def match(self, event: Event) -> list[Any]:
        if self.records is not None:
            return [self.keys[number] for number in self.records.match(event)]
        found = self.kernel.match(event.values, self.keys)
        if self.beside is not None:
            found += [self.keys[number] for number in self.beside.match(event)]
        return found

    def bytes(self) -> int:
        compiled = self.kernel.bytes() if self.records is None else self.records.bytes()
        return compiled + (self.beside.bytes() if self.beside is not None else 0)
