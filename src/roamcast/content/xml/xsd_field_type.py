"""Mapping of XML Schema's simple types to field types."""

from __future__ import annotations

from typing import Any

from roamcast.content.area_type import AreaType
from roamcast.content.box.range_set import after, before
from roamcast.content.errors import ContentError
from roamcast.content.field_type import (
    INT64,
    Boolean,
    Date,
    Decimal,
    Enumeration,
    FieldType,
    Integer,
    String,
    collapse_blanks,
)
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.errors import SchemaError

_XS = "{http://www.w3.org/2001/XMLSchema}"
_AS_TEXT = frozenset(
    (
        *("string", "anyURI", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay"),
        *("gDay", "base64Binary", "hexBinary", "QName", "NOTATION", "anySimpleType", "anyAtomicType"),
    )
)
"Types that are compared as text."
AREAS: dict[str, FieldType] = {
    f"{{{namespace}}}{shape}": AreaType(shape)
    for namespace in (
        "urn:oasis:names:tc:emergency:cap:1.2",
        "urn:oasis:names:tc:emergency:cap:1.1",
        "http://www.incident.com/cap/1.0",
    )
    for shape in ("circle", "polygon")
}
"Elements of the Common Alerting Protocol that contain areas, although its schema declares them as text."

_PLAIN: dict[str, FieldType] = {"boolean": Boolean(), "dateTime": DateTime(), "duration": Duration()}


def field_type_of(simple: Any, fixed: str | None, where: str) -> FieldType:
    """Return the field type of an attribute's or element's value."""
    try:
        kind = _kind(simple, where)
        return kind if fixed is None else _only(kind, fixed)
    except SchemaError:
        raise
    except ContentError as error:
        raise SchemaError(f"{where}: {error}") from None


def item_type(simple: Any) -> Any | None:
    """Return the type of the items if a simple type is a list, otherwise None."""
    for each in _chain(simple):
        if each.is_list():
            return each.item_type if hasattr(each, "item_type") else each.base_type.item_type
    return None


def _chain(simple: Any) -> list[Any]:
    """Return a type and its base types."""
    chain = [simple]
    while chain[-1].base_type is not None and len(chain) < 50:
        chain.append(chain[-1].base_type)
    return chain


def _only(kind: FieldType, fixed: str) -> FieldType:
    """Return the field type restricted to one value."""
    stored = kind.read(fixed)
    if isinstance(kind, String | Enumeration):
        return Enumeration((fixed,))
    if isinstance(kind, Integer | Decimal):
        return type(kind)(stored, stored)
    return Date(kind.load(stored), kind.load(stored)) if isinstance(kind, Date) else kind


def _kind(simple: Any, where: str) -> FieldType:
    chain = _chain(simple)
    names = {each.local_name for each in chain}
    if any(each.is_list() for each in chain):
        raise SchemaError(f"{where}: a list of lists is not supported")
    listed = next((each.enumeration for each in chain if each.enumeration), None)
    if any(each.is_union() for each in chain) or names & _AS_TEXT:
        # The members of a union are comparable only as text.
        return _text(names, listed, chain)
    if "integer" in names:
        return Integer(*_bounds(chain, int, INT64, listed))
    if names & {"decimal", "double", "float"}:
        return Decimal(*_bounds(chain, float, Decimal().bounds(), listed))
    for name in names & _PLAIN.keys():
        return _PLAIN[name]
    if "date" in names:
        low, high = _bounds(chain, lambda value: Date().read(str(value)), Date().bounds(), listed)
        return Date(Date().load(low), Date().load(high))
    raise SchemaError(
        f"{where}: the type {simple.local_name or simple.base_type.local_name!r} is not supported"
    )


def _text(names: set[str], listed: Any, chain: list[Any]) -> FieldType:
    if not listed or not names & {"string", "anyURI"}:
        return String()
    collapse = bool(names & {"token", "anyURI"})
    values = map(collapse_blanks, _written(chain)) if collapse else map(str, listed)
    return Enumeration(tuple(dict.fromkeys(values)), collapse)


def _written(chain: list[Any]) -> list[str]:
    """Return the listed values as written in the schema; xmlschema would collapse all Unicode blanks."""
    facet = next(each.facets[f"{_XS}enumeration"] for each in chain if each.enumeration)
    return [element.attrib["value"] for element in facet]


def _bounds(chain: list[Any], read: Any, widest: tuple[Any, Any], listed: Any) -> tuple[Any, Any]:
    """Return the tightest bounds of a type, its bases and its listed values."""
    lows, highs = [widest[0]], [widest[1]]
    if listed:
        values = [read(value) for value in listed]
        lows.append(min(values))
        highs.append(max(values))
    for each in chain:
        for name, facet in each.facets.items():
            if name == f"{_XS}minInclusive":
                lows.append(read(facet.value))
            elif name == f"{_XS}minExclusive":
                lows.append(after(read(facet.value)))
            elif name == f"{_XS}maxInclusive":
                highs.append(read(facet.value))
            elif name == f"{_XS}maxExclusive":
                highs.append(before(read(facet.value)))
    return max(lows), min(highs)
