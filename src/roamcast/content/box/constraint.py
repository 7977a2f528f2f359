"""Constraints: the set of values of one field that satisfy a comparison or a string function."""

from __future__ import annotations

import math
from decimal import Decimal as BigDecimal
from typing import Any

from roamcast.content.area_type import AreaType
from roamcast.content.box.area_set import AreaSet, RegionTest
from roamcast.content.box.glob import CASELESS, Glob, caseless, fits, lower, tidy
from roamcast.content.box.range_set import RangeSet, after, before
from roamcast.content.box.string_set import StringSet
from roamcast.content.earth.shapes import Region, check_place
from roamcast.content.earth.sphere import WIDEST, Circle
from roamcast.content.errors import ContentError
from roamcast.content.field_type import Boolean, Date, Decimal, Domain, Enumeration, Integer, Presence, String
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import EventType, Field
from roamcast.content.time_types import DateTime, Duration

OPERATORS = ("=", "!=", "<=", ">=", "<", ">")
_COORDINATES = tuple(
    (f"{mark}{lat}", f"{mark}{lon}")
    for mark in ("@", "")
    for lat, lon in (
        ("lat", "lon"),
        ("lat", "lng"),
        ("lat", "long"),
        ("latitude", "longitude"),
        ("Latitude", "Longitude"),
    )
)
FUNCTIONS = ("starts-with", "ends-with", "contains")


def present(field: Field) -> Domain:
    """Return the set of all values of a field that is not missing."""
    return field.kind.present()


def compare(field: Field, operator: str, value: Any) -> Domain:
    """Return the set of values that compare with `value` as stated; a missing field never does, as in
    XPath.
    """
    kind = field.kind
    if isinstance(kind, Presence):
        raise ContentError(f"{field.path} is a presence field: {operator} is not defined for it")
    if isinstance(kind, AreaType):
        raise ContentError(f"{field.path} is an area: use within() or intersects(), not {operator}")
    if isinstance(kind, String):
        if operator not in ("=", "!="):
            raise ContentError(f"{field.path} is a string: {operator} is not defined for it")
        equal: Any = StringSet.of([kind.store(value)])
    else:
        if not kind.ordered and operator not in ("=", "!="):
            raise ContentError(f"{field.path} is {article(kind.name)}: {operator} is not defined for it")
        equal = _compare_ordered(field, "=" if operator == "!=" else operator, value)
    if operator != "!=":
        return equal  # type: ignore[no-any-return]
    rest = equal.outside(present(field))
    return rest[0] if rest else RangeSet(())


def _compare_ordered(field: Field, operator: str, value: Any) -> RangeSet:
    kind = field.kind
    if isinstance(kind, Boolean | Enumeration):
        place = kind.store(value)
        return RangeSet(((place, place),))
    floor, ceiling = _around(field, value)
    low, high = kind.bounds()  # type: ignore[attr-defined]
    start, end = {
        "=": (ceiling, floor),
        "<": (low, before(ceiling)),
        "<=": (low, floor),
        ">": (after(floor), high),
        ">=": (ceiling, high),
    }[operator]
    start, end = max(start, low), min(end, high)
    return RangeSet(((start, end),) if start <= end else ())


def _around(field: Field, value: Any) -> tuple[Any, Any]:
    """Return the nearest stored values below and above `value`, ignoring bounds; both equal an exact
    value.
    """
    kind = field.kind
    if isinstance(kind, Date | DateTime | Duration):
        stored = type(kind)().store(value)
        return stored, stored
    wrong = isinstance(value, bool) or not isinstance(value, int | float | BigDecimal)
    if wrong or (isinstance(value, float) and not math.isfinite(value)):
        raise ContentError(f"{field.path} is {article(kind.name)}; {repr(value)[:40]} is not a number")
    if isinstance(kind, Integer):
        return math.floor(value), math.ceil(value)
    try:
        number = float(value) + 0.0
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return number, number


def like(field: Field, glob: Glob) -> Domain:
    """Return the set of texts that match `glob`."""
    glob = tidy(glob)
    if isinstance(field.kind, String):
        for piece in glob[1:] if glob[0] == CASELESS else glob:
            field.kind.store(piece)
        return StringSet.of(glob) if len(glob) == 1 else StringSet.where([glob])
    if isinstance(field.kind, Enumeration):
        places = [place for place, value in enumerate(field.kind.values) if fits(glob, value)]
        empty: RangeSet = RangeSet(())
        for place in places:
            empty = empty.join(RangeSet(((place, place),)))
        return empty
    raise ContentError(f"{field.path} is {article(field.kind.name)}: text functions are not defined for it")


def apply(field: Field, function: str, text: str) -> Domain:
    """Return the set of values that start with, end with or contain `text`.

    A missing field counts as the empty string here, as in XPath: it starts with "" and with nothing else.
    """
    domain = like(field, glob_of(function, text))
    if text == "" and field.optional:
        return field.everything
    return domain


def glob_of(function: str, text: str) -> Glob:
    """Return the pattern of a string function applied to `text`."""
    globs: dict[str, Glob] = {"starts-with": (text, ""), "ends-with": ("", text), "contains": ("", text, "")}
    return globs[function]


def any_case(field: Field, glob: Glob) -> Domain:
    """Return the set of values whose lower-case text matches `glob`."""
    for piece in glob:
        if piece != lower(piece):
            raise ContentError(
                f"{piece[:40]!r} is not in lower case and never matches; write {lower(piece)[:40]!r}"
            )
    return like(field, caseless(glob))


def read_glob(text: str) -> Glob:
    r"""Return the pattern of `text`, in which `*` is any string, `\*` a star and `\\` a backslash.

    Text without a star is taken literally, including backslashes, so that plain XPath keeps its meaning.
    """
    if "*" not in text:
        return (text,)
    pieces, piece = [], ""
    letters = iter(text)
    for letter in letters:
        if letter == "*":
            pieces.append(piece)
            piece = ""
        elif letter == "\\":
            following = next(letters, "")
            piece += following if following in ("*", "\\") else letter + following
        else:
            piece += letter
    return tidy((*pieces, piece))


def write_glob(glob: Glob) -> str:
    """Return the text that `read_glob` parses as `glob`."""
    if len(glob) == 1 and "*" not in glob[0]:
        return glob[0]
    return "*".join(piece.replace("\\", "\\\\").replace("*", "\\*") for piece in glob)


def disc(lat: float, lon: float, radius: float) -> Circle:
    """Return a circle on the Earth (centre [deg], radius [m]); raise `ContentError` if it is invalid."""
    check_place(lat, lon)
    if not 0 < radius <= WIDEST:
        raise ContentError(f"the radius is {radius!r} m; it must be positive and at most 10000 km")
    return Circle(float(lat) + 0.0, float(lon) + 0.0, float(radius))


def is_location(type: EventType, lat: int, lon: int) -> bool:
    """Return whether two fields are the latitude and longitude of a position."""
    if not 0 <= lat < len(type.fields) or not 0 <= lon < len(type.fields):
        return False
    container = type.fields[lat].path.rpartition("/")[0]
    return find_location(type, container) == (lat, lon)


def find_location(type: EventType, container: str) -> tuple[int, int] | None:
    """Return the indices of the latitude and longitude fields in an element, found by their usual names."""
    prefix = f"{container}/" if container else ""
    for lat, lon in _COORDINATES:
        if type.has(prefix + lat) and type.has(prefix + lon):
            found = type.index(prefix + lat), type.index(prefix + lon)
            if all(isinstance(type.fields[at].kind, Decimal) for at in found):
                return found
    return None


def find_areas(type: EventType, path: str) -> list[int]:
    """Return the indices of the area fields at `path`, or directly below it, including repeated ones."""
    if type.has(path or VALUE):
        place = type.index(path or VALUE)
        return [place] if isinstance(type.fields[place].kind, AreaType) else []
    prefix = f"{path}/" if path else ""
    return [
        place
        for place, field in enumerate(type.fields)
        if field.path.rpartition("/")[0] == prefix.removesuffix("/") and area_kind(field) is not None
    ]


def area_kind(field: Field) -> AreaType | None:
    """Return the area type of a field or of its records, or None."""
    kind = field.kind
    if isinstance(kind, RecordList) and kind.plain:
        kind = kind.record.fields[0].kind
    return kind if isinstance(kind, AreaType) else None


def located(field: Field, whole: bool, region: Region) -> AreaSet:
    """Return the areas that lie within the region, or with `whole` false overlap it."""
    kind = area_kind(field)
    assert kind is not None
    return AreaSet.where(kind.shape, [RegionTest(whole, region)])


def article(noun: str) -> str:
    """Return the noun with its indefinite article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
