"""Repeated elements: the field type of a list of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.errors import ContentError
from roamcast.content.field_type import FieldType

if TYPE_CHECKING:
    from roamcast.content.schema import EventType

MAX_RECORDS = 65536
"Maximum number of records of one element in one event."
VALUE = "."
"Path of a record's own value, as opposed to its attributes."


class RecordList(FieldType, frozen=True):
    """A list of `least` or more records of one event type; stored as a tuple of the records' stored
    values.
    """

    name = "records"

    record: EventType
    least: int = 0

    def store(self, value: Any) -> tuple[tuple[Any, ...], ...]:
        """Return the stored form of an iterable of mappings, events, or plain values if records have only a
        value.
        """
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ContentError(f"{str(value)[:40]!r} is not a list of records")
        found = tuple(self._record(each) for each in value)
        self.check(len(found))
        return found

    def check(self, count: int) -> None:
        """Raise `ContentError` if the number of records is out of bounds."""
        if not self.least <= count <= MAX_RECORDS:
            expected = f"at least {self.least}" if count < self.least else f"at most {MAX_RECORDS}"
            raise ContentError(f"{count} records of {self.record.name!r}; expected {expected}")

    def load(self, stored: Any) -> tuple[Any, ...]:
        """Return the records as events of their type, or as plain values if they have only a value."""
        from roamcast.content.event import Event

        if self.plain:
            kind = self.record.fields[0].kind
            return tuple(kind.load(values[0]) for values in stored)
        return tuple(Event(self.record, values) for values in stored)

    @property
    def plain(self) -> bool:
        """Whether a record consists of only its own value."""
        return [field.path for field in self.record.fields] == [VALUE]

    def read(self, text: str) -> Any:
        """Raise `ContentError`, because records have no text form."""
        raise ContentError(f"{self.record.name!r} contains records, not text")

    def write(self, stored: Any) -> str:
        """Return the number of records in readable form."""
        return f"{len(stored)} x {self.record.name}"

    def everything(self, absent: bool = False) -> RecordListSet:
        """Return the set of all allowed lists of records; the empty list is one of them unless `least` is
        positive.
        """
        return self.present() if self.least else self.where()

    def present(self) -> RecordListSet:
        """Return the set of all lists of at least one record."""
        from roamcast.content.filter import Filter

        return self.where(Filter.everything(self.record))

    def where(self, *required: Any) -> RecordListSet:
        """Return the set of lists in which each filter of `required` matches some record."""
        from roamcast.content.filter import Filter

        return RecordListSet.where(required, Filter.nothing(self.record))

    def describe(self) -> list[Any]:
        """Return the name, the fingerprint of the record type and the minimum number of records."""
        return [self.name, self.record.fingerprint.hex(), self.least]

    def _record(self, value: Any) -> tuple[Any, ...]:
        from roamcast.content.event import Event

        if isinstance(value, Event):
            if value.type is not self.record:
                raise ContentError(
                    f"the record is of type {value.type.name!r}; expected {self.record.name!r}"
                )
            return value.values
        if isinstance(value, Mapping):
            return Event.of(self.record, value).values
        return Event.of(self.record, {VALUE: value}).values
