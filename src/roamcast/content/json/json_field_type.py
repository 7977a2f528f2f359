"""Mapping of JSON Schema's scalar types to field types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from roamcast.content.box.range_set import after, before
from roamcast.content.errors import ContentError
from roamcast.content.field_type import INT64, Boolean, Date, Decimal, Enumeration, FieldType, Integer, String
from roamcast.content.time_types import DateTime, Duration
from roamcast.content.xml.errors import SchemaError

_FORMATS: dict[str, FieldType] = {"date": Date(), "date-time": DateTime(), "duration": Duration()}
_SCALARS = ("string", "integer", "number", "boolean")


def scalar_field_type(schema: Mapping[str, Any], name: str, where: str) -> FieldType:
    """Return the field type of values of the scalar type `name`."""
    try:
        return _kind(schema, name, _listed(schema))
    except SchemaError:
        raise
    except ContentError as error:
        raise SchemaError(f"{where}: {error}") from None


def type_names(schema: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the types that a value may have, including `null`; for an enumeration, the types of its
    values.
    """
    declared = schema.get("type")
    if declared is not None:
        return (declared,) if isinstance(declared, str) else tuple(declared)
    listed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if listed:
        names = dict.fromkeys(map(_type_of, listed))
        return ("number",) if set(names) == {"integer", "number"} else tuple(names)
    if "properties" in schema:
        return ("object",)
    if "items" in schema:
        return ("array",)
    if "format" in schema and schema["format"] in _FORMATS:
        return ("string",)
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    return ("number",) if any(key in schema for key in bounds) else ()


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names: dict[type, str] = {str: "string", float: "number", dict: "object", list: "array"}
    return names[type(value)]


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    listed = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return [value for value in listed if value is not None]


def _kind(schema: Mapping[str, Any], name: str, listed: list[Any]) -> FieldType:
    if name not in _SCALARS:
        raise ContentError(f"the type {name!r} is not supported here")
    if any(_type_of(value) != name and (name, _type_of(value)) != ("number", "integer") for value in listed):
        raise ContentError(f"the enumeration has values that are not of type {name!r}")
    if name == "boolean":
        return Boolean()
    if name == "string":
        if listed:
            return Enumeration(tuple(dict.fromkeys(listed)))
        return _FORMATS.get(schema.get("format", ""), String())
    low, high = INT64 if name == "integer" else Decimal().bounds()
    lows, highs = [low, *([min(listed)] if listed else [])], [high, *([max(listed)] if listed else [])]
    whole = name == "integer"
    if "minimum" in schema:
        lows.append(math.ceil(schema["minimum"]) if whole else schema["minimum"])
    if "exclusiveMinimum" in schema:
        bound = schema["exclusiveMinimum"]
        lows.append(math.floor(bound) + 1 if whole else after(float(bound)))
    if "maximum" in schema:
        highs.append(math.floor(schema["maximum"]) if whole else schema["maximum"])
    if "exclusiveMaximum" in schema:
        bound = schema["exclusiveMaximum"]
        highs.append(math.ceil(bound) - 1 if whole else before(float(bound)))
    return Integer(max(lows), min(highs)) if whole else Decimal(float(max(lows)), float(min(highs)))
