"""Points in time and spans of time, as XML Schema writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.field_type import OrderedFieldType

_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,40}))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_SPAN = re.compile(
    r"(-)?P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,12})(?:\.([0-9]{1,40}))?S)?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
MONTH = 2_629_746 * _SECOND
"Of 365.2425 days in a year; XML Schema leaves open how a month compares with days."


class DateTime(OrderedFieldType, frozen=True):
    """A point in time, in microseconds of 1970 and after; one without a zone is of UTC."""

    name = "datetime"

    def bounds(self) -> tuple[int, int]:
        """The years 1 to 9999."""
        return _LOWEST, _HIGHEST

    def store(self, value: Any) -> int:
        """The microseconds of a `datetime`, or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, datetime):
            raise ContentError(f"{value!r} is not a point in time")
        at = value if value.tzinfo else value.replace(tzinfo=UTC)
        return _in_calendar((at - _EPOCH) // _MICROSECOND, str(value))

    def load(self, stored: Any) -> datetime:
        """A `datetime` of UTC."""
        return _EPOCH + timedelta(microseconds=stored)

    def read(self, text: str) -> int:
        """A point in time like 2005-03-08T12:00:00+01:00; what lies below a microsecond is let go."""
        text = text.strip(" \t\r\n")
        found = _MOMENT.fullmatch(text)
        if found is None:
            raise ContentError(f"{text[:40]!r} is not a point in time like '2005-03-08T12:00:00+01:00'")
        day, clock, fraction, zone = found.groups()
        try:
            if clock == "24:00:00":
                at = datetime.fromisoformat(f"{day}T00:00:00{_zone(zone)}") + timedelta(days=1)
            else:
                at = datetime.fromisoformat(f"{day}T{clock}{_zone(zone)}")
            stored = (at - _EPOCH) // _MICROSECOND + int((fraction or "0")[:6].ljust(6, "0"))
        except (ValueError, OverflowError):
            raise ContentError(f"{text[:40]!r} is not a time of a day of the calendar") from None
        return _in_calendar(stored, text)

    def write(self, stored: Any) -> str:
        """In UTC, with its zone written as hours: some schemas ask for that."""
        return self.load(stored).isoformat()


class Duration(OrderedFieldType, frozen=True):
    """A span of time, in microseconds."""

    name = "duration"

    def bounds(self) -> tuple[int, int]:
        """A hundred thousand years to either side."""
        return -_LONGEST, _LONGEST

    def store(self, value: Any) -> int:
        """The microseconds of a `timedelta`, or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, timedelta):
            raise ContentError(f"{value!r} is not a span of time")
        return int(self._within(value // _MICROSECOND))

    def load(self, stored: Any) -> timedelta:
        """A `timedelta`."""
        return timedelta(microseconds=stored)

    def read(self, text: str) -> int:
        """A span of time like P1DT2H30M; a month has the length of an average one."""
        text = text.strip(" \t\r\n")
        found = _SPAN.fullmatch(text)
        if found is None or text[-1:] in ("P", "T"):
            raise ContentError(f"{text[:40]!r} is not a span of time like 'P1DT2H30M'")
        sign, years, months, days, hours, minutes, seconds, fraction = found.groups(default="0")
        whole = (12 * int(years) + int(months)) * MONTH + int(days) * _DAY
        whole += (3600 * int(hours) + 60 * int(minutes) + int(seconds)) * _SECOND
        whole += int(fraction[:6].ljust(6, "0"))
        return int(self._within(-whole if sign == "-" else whole))

    def write(self, stored: Any) -> str:
        """In days, hours, minutes and seconds."""
        days, rest = divmod(abs(stored), _DAY)
        seconds, fraction = divmod(rest, _SECOND)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        exact = f"{seconds}.{fraction:06}".rstrip("0").rstrip(".") if fraction else str(seconds)
        clock = "".join(
            f"{part}{unit}"
            for part, unit in ((hours, "H"), (minutes, "M"), (exact, "S"))
            if part not in (0, "0")
        )
        written = (f"{days}D" if days else "") + (f"T{clock}" if clock else "") or "T0S"
        return f"{'-' if stored < 0 else ''}P{written}"


def _in_calendar(stored: int, told: str) -> int:
    """Microseconds of 1970 and after, if they are of a year that has a name: a zone may lead out of it."""
    if not _LOWEST <= stored <= _HIGHEST:
        raise ContentError(f"{told[:40]!r} is not in the years 1 to 9999 of UTC")
    return stored


def _zone(zone: str | None) -> str:
    return "+00:00" if zone in (None, "Z") else zone or ""


_LONGEST = 100_000 * 12 * MONTH
_LOWEST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_HIGHEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
