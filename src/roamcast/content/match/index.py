"""The match index: which of many filters match an event, in far less time than asking each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

from roamcast._kernel import MatchIndex as KernelIndex
from roamcast.content.box.conjunction import Conjunction
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.kind_area import Area
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
        areas = any(isinstance(field.kind, Area) for field in type.fields)
        self.records = RecordsIndex(type) if type.record_depth or areas else None
        "In place of the kernel's own index where elements repeat, or are areas."
        self.letters = "".join(letter(f.kind) for f in type.fields) if not self.records else ""
        self.kernel = KernelIndex(self.letters)
        self.beside: RecordsIndex | None = None
        "Of a flat type: for the filters that ask more than what each field is."
        self.shared: _Shared | None = None
        "Of a flat type: for the filters that several want."
        self.type = type
        self.keys: list[Any] = []
        self.wanted: dict[tuple[Conjunction, ...], int] = {}
        "Who wants a filter alone, by number."
        self.alone: dict[int, tuple[Conjunction, ...]] = {}
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
            self._add_flat(number, filter.conjunctions)
        return number

    def _add_flat(self, number: int, wanted: tuple[Conjunction, ...]) -> None:
        if self.shared is not None and self.shared.join(wanted, number, self.keys[number]):
            return
        other = self.wanted.pop(wanted, None)
        if other is None:
            self.wanted[wanted] = number
            self.alone[number] = wanted
            self.kernel.add(number, wanted)
            return
        del self.alone[other]
        self.kernel.remove(other)
        if self.shared is None:
            self.shared = _Shared(self.letters)
        self.shared.begin(wanted, {other: self.keys[other], number: self.keys[number]})

    def remove(self, number: int) -> None:
        alone = self.alone.pop(number, None)
        if self.records is not None:
            self.records.remove(number)
        elif alone is not None:
            del self.wanted[alone]
            self.kernel.remove(number)
        elif self.beside is not None and number in self.beside:
            self.beside.remove(number)
        else:
            assert self.shared is not None
            self.shared.leave(number)
        self.keys[number] = None
        self.free.append(number)

    def match(self, event: Event) -> list[Any]:
        if self.records is not None:
            return [self.keys[number] for number in self.records.match(event)]
        if self.shared is None:
            found = self.kernel.match(event.values, self.keys)
        else:
            found = self.kernel.match(event.values, self.keys, self.shared.kernel, self.shared.keys)
        if self.beside is not None:
            found += [self.keys[number] for number in self.beside.match(event)]
        return found

    def bytes(self) -> int:
        compiled = self.kernel.bytes() if self.records is None else self.records.bytes()
        compiled += self.shared.kernel.bytes() if self.shared is not None else 0
        return compiled + (self.beside.bytes() if self.beside is not None else 0)


class _Shared:
    """Filters that several want: looked up once, and handed out to all of them."""

    def __init__(self, letters: str) -> None:
        self.kernel = KernelIndex(letters)
        self._groups: list[_Group] = []
        "Of each filter."
        self.keys: list[list[Any]] = []
        "Of each filter, those who want it: the lists of their groups."
        self._entries: dict[tuple[Conjunction, ...], int] = {}
        self._of: dict[int, tuple[Conjunction, ...]] = {}
        self._free: list[int] = []

    def begin(self, wanted: tuple[Conjunction, ...], members: dict[int, Any]) -> None:
        """Take in a filter that has several members from now on."""
        group = _Group(members)
        if self._free:
            entry = self._free.pop()
            self._groups[entry], self.keys[entry] = group, group.keys
        else:
            entry = len(self._groups)
            self._groups.append(group)
            self.keys.append(group.keys)
        self._entries[wanted] = entry
        for number in members:
            self._of[number] = wanted
        self.kernel.add(entry, wanted)

    def join(self, wanted: tuple[Conjunction, ...], number: int, key: Any) -> bool:
        """Add a member, if the filter is known here."""
        entry = self._entries.get(wanted)
        if entry is None:
            return False
        self._groups[entry].join(number, key)
        self._of[number] = wanted
        return True

    def leave(self, number: int) -> None:
        """Remove a member, and the filter with its last one."""
        wanted = self._of.pop(number)
        entry = self._entries[wanted]
        if self._groups[entry].leave(number):
            del self._entries[wanted]
            self.kernel.remove(entry)
            self._free.append(entry)


class _Group:
    """Those who want one filter: as a plain list for handing out, and where each stands in it for leaving."""

    __slots__ = ("_numbers", "_places", "keys")

    def __init__(self, members: dict[int, Any]) -> None:
        self.keys = list(members.values())
        self._numbers = list(members)
        self._places = {number: place for place, number in enumerate(members)}

    def join(self, number: int, key: Any) -> None:
        self._places[number] = len(self.keys)
        self._numbers.append(number)
        self.keys.append(key)

    def leave(self, number: int) -> bool:
        """Let a member go, its place to the last one; say whether nobody is left."""
        place = self._places.pop(number)
        key, last = self.keys.pop(), self._numbers.pop()
        if last != number:
            self.keys[place], self._numbers[place] = key, last
            self._places[last] = place
        return not self.keys
