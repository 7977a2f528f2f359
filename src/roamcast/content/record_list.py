"""Repeated elements: the kind of a field that holds any number of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.errors import ContentError
from roamcast.content.field_type import FieldType

if TYPE_CHECKING:
    from roamcast.content.schema import EventType

MAX_RECORDS = 65536
"Records of one element in one event."
VALUE = "."
"The path of what a record says itself, besides what its attributes say."


class RecordList(FieldType, frozen=True):
    """Any number of records of one type, `least` or more; stored as a tuple of their stored values."""

    name = "records"

    record: EventType
    least: int = 0

    def store(self, value: Any) -> tuple[tuple[Any, ...], ...]:
        """The records of an iterable of mappings, events, or plain values where a record is a value alone."""
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ContentError(f"{str(value)[:40]!r} is not a list of records")
        found = tuple(self._record(each) for each in value)
        self.check(len(found))
        return found

    def check(self, count: int) -> None:
        """Refuse a number of records that cannot be."""
        if not self.least <= count <= MAX_RECORDS:
            expected = f"at least {self.least}" if count < self.least else f"at most {MAX_RECORDS}"
            raise ContentError(f"{count} of {self.record.name!r}; {expected} are expected")

    def load(self, stored: Any) -> tuple[Any, ...]:
        """The records as events of their type, or as plain values where they are values alone."""
        from roamcast.content.event import Event

        if self.plain:
            kind = self.record.fields[0].kind
            return tuple(kind.load(values[0]) for values in stored)
        return tuple(Event(self.record, values) for values in stored)

    @property
    def plain(self) -> bool:
        """Whether a record is a value alone."""
        return [field.path for field in self.record.fields] == [VALUE]

    def read(self, text: str) -> Any:
        """Records have no text."""
        raise ContentError(f"{self.record.name!r} holds records, not text")

    def write(self, stored: Any) -> str:
        """For people: how many there are."""
        return f"{len(stored)} x {self.record.name}"

    def everything(self, absent: bool = False) -> RecordListSet:
        """All sequences of records that may be; none is a sequence too."""
        return self.present() if self.least else self.where()

    def present(self) -> RecordListSet:
        """There is at least one record."""
        from roamcast.content.filter import Filter

        return self.where(Filter.everything(self.record))

    def where(self, *required: Any) -> RecordListSet:
        """Some record satisfies each of the filters `required`."""
        from roamcast.content.filter import Filter

        return RecordListSet.where(required, Filter.nothing(self.record))

    def describe(self) -> list[Any]:
        """The definition of the records and the least number of them."""
        return [self.name, self.record.fingerprint.hex(), self.least]

    def _record(self, value: Any) -> tuple[Any, ...]:
        from roamcast.content.event import Event

        if isinstance(value, Event):
            if value.type is not self.record:
                raise ContentError(f"a record of {value.type.name!r}, not of {self.record.name!r}")
            return value.values
        if isinstance(value, Mapping):
            return Event.of(self.record, value).values
        return Event.of(self.record, {VALUE: value}).values
