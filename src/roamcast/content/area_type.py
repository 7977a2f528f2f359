"""The field type of areas on the Earth: circles and polygons in the notation of the Common Alerting
Protocol.
"""

from __future__ import annotations

import re
from decimal import Decimal as BigDecimal
from typing import Any, get_args

from roamcast.content.box.area_set import AreaSet, Sort
from roamcast.content.earth.polygon import MAX_CORNERS, Polygon
from roamcast.content.earth.shapes import Shape, circle, polygon
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import ContentError
from roamcast.content.field_type import FieldType, plain_number

_DEGREES = r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})"
_PLACE = re.compile(f"({_DEGREES}),({_DEGREES})")
_RADIUS = re.compile(r"[0-9]{1,20}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}")


class AreaType(FieldType, frozen=True):
    """A circle such as `48.2,16.37 5` (radius [km]) or a closed polygon such as `48,16 49,16 49,17 48,16`."""

    name = "area"

    shape: Sort = ""

    def __post_init__(self) -> None:
        if self.shape not in get_args(Sort):
            raise ContentError(f"an area is a 'circle' or a 'polygon', not {str(self.shape)[:40]!r}")

    def store(self, value: Any) -> Shape:
        """Return the shape that a text denotes, or a checked copy of a shape."""
        if isinstance(value, str):
            return self.read(value)
        if isinstance(value, Circle) and self.shape != "polygon":
            return circle(*value)
        if isinstance(value, Polygon) and self.shape != "circle":
            return polygon(value.corners)
        raise ContentError(f"{str(value)[:40]!r} is not {self._expected}")

    def read(self, text: str) -> Shape:
        """Parse a circle or a closed polygon; raise `ContentError` for other text."""
        words = text[: MAX_CORNERS * 130].split()
        if len(text) > MAX_CORNERS * 130 or len(words) > MAX_CORNERS + 1:
            raise ContentError(f"a polygon has at most {MAX_CORNERS} corners")
        if len(words) == 2 and _RADIUS.fullmatch(words[1]) and self.shape != "polygon":
            return circle(*self._place(words[0]), float(BigDecimal(words[1]) * 1000))
        if len(words) < 4 or self.shape == "circle":
            raise ContentError(f"{text[:40]!r} is not {self._expected}")
        corners = [self._place(word) for word in words]
        if corners[0] != corners[-1]:
            raise ContentError("the polygon is not closed: its last corner must equal its first")
        return polygon(tuple(corners[:-1]))

    def write(self, stored: Any) -> str:
        """Return the text that `read` parses; a polygon's first corner is repeated at the end."""
        if isinstance(stored, Circle):
            return f"{_write_place(stored.lat, stored.lon)} {_kilometres(stored.radius)}"
        return " ".join(_write_place(*corner) for corner in (*stored.corners, stored.corners[0]))

    def everything(self, absent: bool) -> AreaSet:
        """Return the set of all areas of this field type."""
        return AreaSet(self.shape, absent=absent)

    def describe(self) -> list[Any]:
        """Return the name and the allowed shape."""
        return [self.name, self.shape]

    @property
    def _expected(self) -> str:
        forms = {
            "circle": "a circle like '48.2,16.37 5'",
            "polygon": "a closed polygon like '48,16 49,16 49,17 48,16'",
        }
        return forms.get(self.shape) or " or ".join(forms.values())

    def _place(self, word: str) -> tuple[float, float]:
        found = _PLACE.fullmatch(word)
        if found is None:
            raise ContentError(f"{word[:40]!r} is not a position like '48.2,16.37' (latitude, longitude)")
        return float(found[1]), float(found[2])


def _write_place(lat: float, lon: float) -> str:
    return f"{plain_number(lat)},{plain_number(lon)}"


def _kilometres(metres: float) -> str:
    return format((BigDecimal(repr(metres)) / 1000).normalize(), "f")
