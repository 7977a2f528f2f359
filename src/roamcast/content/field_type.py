"""The kinds a field can be of: how its values are checked, stored, written and constrained.

A stored value is what matching is quick on: an enumeration's value is its place in the list, a date
its day number, a decimal a double (as all numbers are in XPath 1.0), a boolean 0 or 1.
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
# Plain digits only: \d would take those of every script, which neither XML Schema nor XPath does.
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")
_DIGITS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BLANKS = re.compile("[ \t\r\n]+")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FieldType(msgspec.Struct, frozen=True):
    """What all kinds have in common."""

    name: ClassVar[str]
    ordered: ClassVar[bool] = False
    "Whether `<` means something."

    def store(self, value: Any) -> Any:
        """The stored form of a Python value; raises `ContentError` if it is not of this kind."""
        raise NotImplementedError

    def load(self, stored: Any) -> Any:
        """The Python value of a stored one."""
        return stored

    def read(self, text: str) -> Any:
        """The stored form of a value written as XML text."""
        raise NotImplementedError

    def write(self, stored: Any) -> str:
        """The one XML text of a stored value."""
        return str(stored)

    def everything(self, absent: bool) -> Domain:
        """All values of this kind, and no value if `absent`."""
        raise NotImplementedError

    def present(self) -> Domain:
        """Whatever a field has that is there."""
        return self.everything(absent=False)

    def describe(self) -> list[Any]:
        """What a decoder must agree on, as plain data."""
        return [self.name]


class String(FieldType, frozen=True):
    """Text of any characters that XML can carry."""

    name = "string"

    def store(self, value: Any) -> str:
        """Check that it is text for XML."""
        if not isinstance(value, str):
            raise ContentError(f"{value!r} is not a string")
        bad = _NOT_XML.search(value)
        if bad:
            raise ContentError(f"the character {bad.group()!r} cannot be written in XML")
        return value

    def read(self, text: str) -> str:
        """The text itself."""
        return self.store(text)

    def everything(self, absent: bool) -> StringSet:
        """All strings."""
        return StringSet(absent=absent)


class OrderedFieldType(FieldType, frozen=True):
    """A kind whose stored values are numbers, between bounds."""

    ordered = True

    def bounds(self) -> tuple[Any, Any]:
        """The least and the greatest stored value."""
        raise NotImplementedError

    def everything(self, absent: bool) -> RangeSet:
        """The span between the bounds."""
        return RangeSet((self.bounds(),), absent)

    def describe(self) -> list[Any]:
        """The name and the bounds."""
        return [self.name, *self.bounds()]

    def _within(self, stored: Any) -> Any:
        low, high = self.bounds()
        if not low <= stored <= high:
            raise ContentError(
                f"{self.write(stored)} is not between {self.write(low)} and {self.write(high)}"
            )
        return stored


class Integer(OrderedFieldType, frozen=True):
    """A whole number of 64 bits, within optional bounds."""

    name = "integer"

    min: int = INT64[0]
    max: int = INT64[1]

    def __post_init__(self) -> None:
        if not INT64[0] <= self.min <= self.max <= INT64[1]:
            raise ContentError(f"an integer between {str(self.min)[:40]} and {str(self.max)[:40]} cannot be")

    def bounds(self) -> tuple[int, int]:
        """As declared."""
        return self.min, self.max

    def store(self, value: Any) -> int:
        """Check that it is a whole number within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise ContentError(f"{value!r} is not an integer")
        return int(self._within(value))

    def read(self, text: str) -> int:
        """A whole number in decimal digits."""
        text = text.strip(" \t\r\n")
        if not _INTEGER.fullmatch(text):
            raise _unread(text, "an integer", 40)
        if not INT64[0] <= int(text) <= INT64[1]:
            raise ContentError(f"{text} needs more than the 64 bits, one for the sign, that an integer has")
        return int(self._within(int(text)))


class Decimal(OrderedFieldType, frozen=True):
    """A number with a fraction, kept as a double, within optional bounds."""

    name = "decimal"

    min: float = -sys.float_info.max
    max: float = sys.float_info.max

    def __post_init__(self) -> None:
        if not -math.inf < self.min <= self.max < math.inf:
            raise ContentError(f"a decimal between {self.min} and {self.max} cannot be")

    def bounds(self) -> tuple[float, float]:
        """As declared."""
        return float(self.min) + 0.0, float(self.max) + 0.0

    def store(self, value: Any) -> float:
        """Check that it is a finite number within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float | BigDecimal):
            raise ContentError(f"{value!r} is not a number")
        try:
            number = float(value)
        except OverflowError:
            raise ContentError(f"{str(value)[:40]} is beyond the numbers that a double can be") from None
        if not math.isfinite(number):
            raise ContentError(f"{number!r} is not a finite number")
        return float(self._within(number)) + 0.0

    def read(self, text: str) -> float:
        """A number in decimal digits, with or without a point; with an exponent where a schema allows one."""
        text = text.strip(" \t\r\n")
        if text in ("INF", "+INF", "-INF", "NaN"):
            raise ContentError(f"{text} is no place on the line of numbers, and an event cannot have it")
        if not _DECIMAL.fullmatch(text):
            raise _unread(text, "a decimal number", 400)
        number = float(text)
        if not math.isfinite(number):
            raise ContentError(f"{text[:40]} is beyond the numbers that a double can be")
        return self.store(number)

    def write(self, stored: Any) -> str:
        """The shortest decimal digits that read back as the same double; XML decimals have no exponent."""
        return plain_number(stored)


def _unread(text: str, kind: str, most: int) -> ContentError:
    """Why a text is not read as a number: it is none, or has more digits than are read."""
    if len(text) > most and _DIGITS.fullmatch(text):
        return ContentError(
            f"{text[:40]}... is a number of {len(text)} characters; {most} digits are read at most"
        )
    return ContentError(f"{text[:40]!r} is not {kind}")


class Boolean(OrderedFieldType, frozen=True):
    """True or false."""

    name = "boolean"
    ordered = False

    def bounds(self) -> tuple[int, int]:
        """False and true."""
        return 0, 1

    def store(self, value: Any) -> int:
        """Check that it is True or False."""
        if not isinstance(value, bool):
            raise ContentError(f"{value!r} is neither True nor False")
        return int(value)

    def load(self, stored: Any) -> bool:
        """True or False."""
        return bool(stored)

    def read(self, text: str) -> int:
        """One of the four words of XML Schema."""
        text = text.strip(" \t\r\n")
        if text not in ("true", "false", "1", "0"):
            raise ContentError(f"{text[:40]!r} is neither 'true' nor 'false'")
        return int(text in ("true", "1"))

    def write(self, stored: Any) -> str:
        """The word."""
        return "true" if stored else "false"


class Date(OrderedFieldType, frozen=True):
    """A day of the calendar, without time zone, within optional bounds."""

    name = "date"

    min: date = date.min
    max: date = date.max

    def __post_init__(self) -> None:
        if self.min > self.max:
            raise ContentError(f"a date between {self.min} and {self.max} cannot be")

    def bounds(self) -> tuple[int, int]:
        """As declared, as day numbers."""
        return self.min.toordinal(), self.max.toordinal()

    def store(self, value: Any) -> int:
        """The day number of a date, or of its text."""
        if isinstance(value, str):
            return self.read(value)
        if type(value) is not date:
            raise ContentError(f"{value!r} is not a date")
        return int(self._within(value.toordinal()))

    def load(self, stored: Any) -> date:
        """The day."""
        return date.fromordinal(stored)

    def read(self, text: str) -> int:
        """A day written YYYY-MM-DD."""
        text = text.strip(" \t\r\n")
        if not _DATE.fullmatch(text):
            raise ContentError(f"{text[:40]!r} is not a date like '2005-03-08' (without time zone)")
        try:
            return int(self._within(date.fromisoformat(text).toordinal()))
        except ValueError:
            raise ContentError(f"{text!r} is not a day of the calendar") from None

    def write(self, stored: Any) -> str:
        """YYYY-MM-DD."""
        return date.fromordinal(stored).isoformat()


class Enumeration(OrderedFieldType, frozen=True):
    """One of a few listed strings."""

    name = "enumeration"
    ordered = False

    values: tuple[str, ...]
    collapse: bool = False
    "Whether blanks around a written value, and more than one inside, say nothing."

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise ContentError("an enumeration lists its values, each once")
        for value in self.values:
            String().store(value)

    @classmethod
    def of(cls, *values: str) -> Enumeration:
        """One of `values`."""
        return cls(values)

    def bounds(self) -> tuple[int, int]:
        """The first and the last place in the list."""
        return 0, len(self.values) - 1

    def store(self, value: Any) -> int:
        """The place of `value` in the list."""
        if not isinstance(value, str):
            raise ContentError(f"{value!r} is not a string")
        return self.read(value)

    def load(self, stored: Any) -> str:
        """The value at a place."""
        return self.values[int(stored)]

    def read(self, text: str) -> int:
        """The place of `text` in the list."""
        if self.collapse:
            text = collapse_blanks(text)
        try:
            return self.values.index(text)
        except ValueError:
            near = difflib.get_close_matches(text, self.values, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(self.values[:20])}"
            raise ContentError(f"{text[:40]!r} is not in the enumeration; {hint}") from None

    def write(self, stored: Any) -> str:
        """The value itself."""
        return self.values[int(stored)]

    def describe(self) -> list[Any]:
        """The name and the list."""
        return [self.name, *self.values]


class Presence(OrderedFieldType, frozen=True):
    """That an element is there; it has no value to compare, or none that is known here."""

    name = "presence"
    ordered = False

    def bounds(self) -> tuple[int, int]:
        """There is nothing to tell but that it is there."""
        return 0, 0

    def store(self, value: Any) -> int:
        """Check that it is True."""
        if value is not True:
            raise ContentError(f"{str(value)[:40]!r} is not True: it is there, or it is missing")
        return 0

    def load(self, stored: Any) -> bool:
        """True."""
        return True

    def read(self, text: str) -> int:
        """Any text shows that it is there."""
        return 0

    def write(self, stored: Any) -> str:
        """No text."""
        return ""


def collapse_blanks(text: str) -> str:
    """The text without leading and trailing blanks, inner runs of them as one space; as XML Schema does it.

    Blanks are space, tab, line feed and carriage return; other Unicode blanks are characters like any other.
    """
    return " ".join(split_blanks(text))


def split_blanks(text: str) -> list[str]:
    """The words of a text between the blanks of XML."""
    return [word for word in _BLANKS.split(text) if word]


def plain_number(value: float) -> str:
    """A double in decimal digits without exponent, as short as reads back the same."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return format(BigDecimal(repr(value)), "f")
