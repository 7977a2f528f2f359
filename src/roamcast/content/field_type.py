"""Field types: how the values of a field are checked, stored, written and constrained.

The stored form makes matching fast: an enumeration's value is stored as its position in the list, a date as
its day number, a decimal as a double (as all numbers in XPath 1.0), a boolean as 0 or 1.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from datetime import date
from decimal import Decimal as BigDecimal
from typing import Any, ClassVar, TypeAlias

import msgspec

from roamcast.content.box.area_set import AreaSet
from roamcast.content.box.point_set import PointSet
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.record_list_set import RecordListSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.errors import ContentError

Domain: TypeAlias = RangeSet | StringSet | RecordListSet | PointSet | AreaSet

INT64 = (-(2**63), 2**63 - 1)
# ASCII digits only: \d matches the digits of every script, which XML Schema and XPath do not allow.
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")
_DIGITS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BLANKS = re.compile("[ \t\r\n]+")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FieldType(msgspec.Struct, frozen=True):
    """The interface of all field types."""

    name: ClassVar[str]
    ordered: ClassVar[bool] = False
    "Whether `<` is defined for the values."

    def store(self, value: Any) -> Any:
        """Return the stored form of a Python value; raise `ContentError` if it is not of this type."""
        raise NotImplementedError

    def load(self, stored: Any) -> Any:
        """Return the Python value of a stored value."""
        return stored

    def read(self, text: str) -> Any:
        """Return the stored form of a value in XML text."""
        raise NotImplementedError

    def write(self, stored: Any) -> str:
        """Return the canonical XML text of a stored value."""
        return str(stored)

    def everything(self, absent: bool) -> Domain:
        """Return the set of all values of this type, including the missing value if `absent`."""
        raise NotImplementedError

    def present(self) -> Domain:
        """Return the set of all values of a field that is not missing."""
        return self.everything(absent=False)

    def describe(self) -> list[Any]:
        """Return the properties that must be equal for two types to be the same, as plain data."""
        return [self.name]


class String(FieldType, frozen=True):
    """Text of any characters that are valid in XML."""

    name = "string"

    def store(self, value: Any) -> str:
        """Return `value` if it is a string of valid XML characters."""
        if not isinstance(value, str):
            raise ContentError(f"{value!r} is not a string")
        bad = _NOT_XML.search(value)
        if bad:
            raise ContentError(f"the character {bad.group()!r} cannot be written in XML")
        return value

    def read(self, text: str) -> str:
        """Return the text unchanged."""
        return self.store(text)

    def everything(self, absent: bool) -> StringSet:
        """Return the set of all strings."""
        return StringSet(absent=absent)


class OrderedFieldType(FieldType, frozen=True):
    """A field type whose stored values are numbers between bounds."""

    ordered = True

    def bounds(self) -> tuple[Any, Any]:
        """Return the lowest and the highest stored value."""
        raise NotImplementedError

    def everything(self, absent: bool) -> RangeSet:
        """Return the range between the bounds."""
        return RangeSet((self.bounds(),), absent)

    def describe(self) -> list[Any]:
        """Return the name and the bounds."""
        return [self.name, *self.bounds()]

    def _within(self, stored: Any) -> Any:
        low, high = self.bounds()
        if not low <= stored <= high:
            raise ContentError(
                f"{self.write(stored)} is not between {self.write(low)} and {self.write(high)}"
            )
        return stored


class Integer(OrderedFieldType, frozen=True):
    """A signed 64-bit integer within optional bounds."""

    name = "integer"

    min: int = INT64[0]
    max: int = INT64[1]

    def __post_init__(self) -> None:
        if not INT64[0] <= self.min <= self.max <= INT64[1]:
            raise ContentError(
                f"an integer cannot have the bounds {str(self.min)[:40]} and {str(self.max)[:40]}"
            )

    def bounds(self) -> tuple[int, int]:
        """Return the declared bounds."""
        return self.min, self.max

    def store(self, value: Any) -> int:
        """Return `value` if it is an integer within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise ContentError(f"{value!r} is not an integer")
        return int(self._within(value))

    def read(self, text: str) -> int:
        """Parse an integer in decimal digits."""
        text = text.strip(" \t\r\n")
        if not _INTEGER.fullmatch(text):
            raise _unread(text, "an integer", 40)
        if not INT64[0] <= int(text) <= INT64[1]:
            raise ContentError(f"{text} does not fit into a signed 64-bit integer")
        return int(self._within(int(text)))


class Decimal(OrderedFieldType, frozen=True):
    """A decimal number, stored as a double, within optional bounds."""

    name = "decimal"

    min: float = -sys.float_info.max
    max: float = sys.float_info.max

    def __post_init__(self) -> None:
        if not -math.inf < self.min <= self.max < math.inf:
            raise ContentError(f"a decimal cannot have the bounds {self.min} and {self.max}")

    def bounds(self) -> tuple[float, float]:
        """Return the declared bounds."""
        return float(self.min) + 0.0, float(self.max) + 0.0

    def store(self, value: Any) -> float:
        """Return `value` as a double if it is finite and within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float | BigDecimal):
            raise ContentError(f"{value!r} is not a number")
        try:
            number = float(value)
        except OverflowError:
            raise ContentError(f"{str(value)[:40]} exceeds the range of a double") from None
        if not math.isfinite(number):
            raise ContentError(f"{number!r} is not a finite number")
        return float(self._within(number)) + 0.0

    def read(self, text: str) -> float:
        """Parse a decimal number, with or without a point and an exponent."""
        text = text.strip(" \t\r\n")
        if text in ("INF", "+INF", "-INF", "NaN"):
            raise ContentError(f"{text} is not a finite number; an event cannot contain it")
        if not _DECIMAL.fullmatch(text):
            raise _unread(text, "a decimal number", 400)
        number = float(text)
        if not math.isfinite(number):
            raise ContentError(f"{text[:40]} exceeds the range of a double")
        return self.store(number)

    def write(self, stored: Any) -> str:
        """Return the shortest decimal digits that parse to the same double; XML decimals have no exponent."""
        return plain_number(stored)


def _unread(text: str, kind: str, max_digits: int) -> ContentError:
    """Return the error for text that is not a number or has too many digits."""
    if len(text) > max_digits and _DIGITS.fullmatch(text):
        return ContentError(
            f"{text[:40]}... is a number of {len(text)} characters; the maximum is {max_digits} digits"
        )
    return ContentError(f"{text[:40]!r} is not {kind}")


class Boolean(OrderedFieldType, frozen=True):
    """The field type of booleans."""

    name = "boolean"
    ordered = False

    def bounds(self) -> tuple[int, int]:
        """Return the stored forms of false and true."""
        return 0, 1

    def store(self, value: Any) -> int:
        """Return 0 or 1 for False or True."""
        if not isinstance(value, bool):
            raise ContentError(f"{value!r} is neither True nor False")
        return int(value)

    def load(self, stored: Any) -> bool:
        """Return the stored value as a bool."""
        return bool(stored)

    def read(self, text: str) -> int:
        """Parse one of the four boolean words of XML Schema."""
        text = text.strip(" \t\r\n")
        if text not in ("true", "false", "1", "0"):
            raise ContentError(f"{text[:40]!r} is neither 'true' nor 'false'")
        return int(text in ("true", "1"))

    def write(self, stored: Any) -> str:
        """Return `true` or `false`."""
        return "true" if stored else "false"


class Date(OrderedFieldType, frozen=True):
    """A day of the calendar without time zone, within optional bounds."""

    name = "date"

    min: date = date.min
    max: date = date.max

    def __post_init__(self) -> None:
        if self.min > self.max:
            raise ContentError(f"a date cannot have the bounds {self.min} and {self.max}")

    def bounds(self) -> tuple[int, int]:
        """Return the declared bounds as day numbers."""
        return self.min.toordinal(), self.max.toordinal()

    def store(self, value: Any) -> int:
        """Return the day number of a date or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if type(value) is not date:
            raise ContentError(f"{value!r} is not a date")
        return int(self._within(value.toordinal()))

    def load(self, stored: Any) -> date:
        """Return the date of a day number."""
        return date.fromordinal(stored)

    def read(self, text: str) -> int:
        """Parse a date in the form YYYY-MM-DD."""
        text = text.strip(" \t\r\n")
        if not _DATE.fullmatch(text):
            raise ContentError(f"{text[:40]!r} is not a date like '2005-03-08' (without time zone)")
        try:
            return int(self._within(date.fromisoformat(text).toordinal()))
        except ValueError:
            raise ContentError(f"{text!r} is not a day of the calendar") from None

    def write(self, stored: Any) -> str:
        """Return the date in the form YYYY-MM-DD."""
        return date.fromordinal(stored).isoformat()


class Enumeration(OrderedFieldType, frozen=True):
    """One of a list of strings."""

    name = "enumeration"
    ordered = False

    values: tuple[str, ...]
    collapse: bool = False
    """Whether leading, trailing and repeated blanks of a written value are ignored, as XML Schema's
    `collapse`.
    """

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise ContentError("an enumeration must list at least one value, and each only once")
        for value in self.values:
            String().store(value)

    @classmethod
    def of(cls, *values: str) -> Enumeration:
        """Return the enumeration of `values`."""
        return cls(values)

    def bounds(self) -> tuple[int, int]:
        """Return the first and the last position in the list."""
        return 0, len(self.values) - 1

    def store(self, value: Any) -> int:
        """Return the position of `value` in the list."""
        if not isinstance(value, str):
            raise ContentError(f"{value!r} is not a string")
        return self.read(value)

    def load(self, stored: Any) -> str:
        """Return the value at a position."""
        return self.values[int(stored)]

    def read(self, text: str) -> int:
        """Return the position of `text` in the list."""
        if self.collapse:
            text = collapse_blanks(text)
        try:
            return self.values.index(text)
        except ValueError:
            near = difflib.get_close_matches(text, self.values, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(self.values[:20])}"
            raise ContentError(f"{text[:40]!r} is not in the enumeration; {hint}") from None

    def write(self, stored: Any) -> str:
        """Return the value at a position."""
        return self.values[int(stored)]

    def describe(self) -> list[Any]:
        """Return the name and the list of values."""
        return [self.name, *self.values]


class Presence(OrderedFieldType, frozen=True):
    """Records whether an element is present; the element has no value that could be compared."""

    name = "presence"
    ordered = False

    def bounds(self) -> tuple[int, int]:
        """Return the only stored value, 0, as both bounds."""
        return 0, 0

    def store(self, value: Any) -> int:
        """Return 0 if `value` is True."""
        if value is not True:
            raise ContentError(
                f"{str(value)[:40]!r} is not True; leave the field out if the element is missing"
            )
        return 0

    def load(self, stored: Any) -> bool:
        """Return True."""
        return True

    def read(self, text: str) -> int:
        """Return 0 for any text, since the element is present."""
        return 0

    def write(self, stored: Any) -> str:
        """Return the empty text."""
        return ""


def collapse_blanks(text: str) -> str:
    """Return the text with blanks trimmed and each inner run of blanks replaced by one space, as in XML
    Schema.

    Blanks are space, tab, line feed and carriage return; other Unicode spaces are ordinary characters.
    """
    return " ".join(split_blanks(text))


def split_blanks(text: str) -> list[str]:
    """Return the words of a text that XML blanks separate."""
    return [word for word in _BLANKS.split(text) if word]


def plain_number(value: float) -> str:
    """Return the shortest decimal digits without exponent that parse to the same double."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return format(BigDecimal(repr(value)), "f")
