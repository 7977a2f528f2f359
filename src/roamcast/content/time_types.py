"""The field types of date-times and durations, in the notation of XML Schema."""

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
"""Length of a month [us]: a twelfth of 365.2425 days. XML Schema does not define how months compare with
days.
"""


class DateTime(OrderedFieldType, frozen=True):
    """A point in time, stored as microseconds since 1970; a text without a time zone is in UTC."""

    name = "datetime"

    def bounds(self) -> tuple[int, int]:
        """Return the bounds: the years 1 to 9999."""
        return _LOWEST, _HIGHEST

    def store(self, value: Any) -> int:
        """Return the microseconds since 1970 of a `datetime` or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, datetime):
            raise ContentError(f"{value!r} is not a point in time")
        at = value if value.tzinfo else value.replace(tzinfo=UTC)
        return _in_calendar((at - _EPOCH) // _MICROSECOND, str(value))

    def load(self, stored: Any) -> datetime:
        """Return a `datetime` in UTC."""
        return _EPOCH + timedelta(microseconds=stored)

    def read(self, text: str) -> int:
        """Parse a point in time such as 2005-03-08T12:00:00+01:00; digits beyond a microsecond are
        truncated.
        """
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
            raise ContentError(f"{text[:40]!r} is not a valid date and time") from None
        return _in_calendar(stored, text)

    def write(self, stored: Any) -> str:
        """Return the time in UTC with a numeric zone offset, which some schemas require."""
        return self.load(stored).isoformat()


class Duration(OrderedFieldType, frozen=True):
    """A duration, stored as microseconds."""

    name = "duration"

    def bounds(self) -> tuple[int, int]:
        """Return the bounds: 100,000 years in both directions."""
        return -_LONGEST, _LONGEST

    def store(self, value: Any) -> int:
        """Return the microseconds of a `timedelta` or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, timedelta):
            raise ContentError(f"{value!r} is not a duration")
        return int(self._within(value // _MICROSECOND))

    def load(self, stored: Any) -> timedelta:
        """Return a `timedelta`."""
        return timedelta(microseconds=stored)

    def read(self, text: str) -> int:
        """Parse a duration such as P1DT2H30M; a month has the average length `MONTH`."""
        text = text.strip(" \t\r\n")
        found = _SPAN.fullmatch(text)
        if found is None or text[-1:] in ("P", "T"):
            raise ContentError(f"{text[:40]!r} is not a duration like 'P1DT2H30M'")
        sign, years, months, days, hours, minutes, seconds, fraction = found.groups(default="0")
        whole = (12 * int(years) + int(months)) * MONTH + int(days) * _DAY
        whole += (3600 * int(hours) + 60 * int(minutes) + int(seconds)) * _SECOND
        whole += int(fraction[:6].ljust(6, "0"))
        return int(self._within(-whole if sign == "-" else whole))

    def write(self, stored: Any) -> str:
        """Return the duration in days, hours, minutes and seconds."""
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


def _in_calendar(stored: int, text: str) -> int:
    """Return `stored` if it lies in the years 1 to 9999; a time zone can shift a time out of them."""
    if not _LOWEST <= stored <= _HIGHEST:
        raise ContentError(f"{text[:40]!r} is not in the years 1 to 9999 in UTC")
    return stored


def _zone(zone: str | None) -> str:
    return "+00:00" if zone in (None, "Z") else zone or ""


_LONGEST = 100_000 * 12 * MONTH
_LOWEST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_HIGHEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
