"""Event types out of JSON Schema: what of an object's properties an event can be, and what not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from roamcast.content.field_type import Presence
from roamcast.content.json.json_field_type import scalar_field_type, type_names
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import MAX_DEPTH, MAX_FIELDS, NAME, EventType, Field
from roamcast.content.xml.errors import SchemaError

_NAME = re.compile(NAME)
_ALTERNATIVES = ("anyOf", "oneOf")
_REFUSED = ("$dynamicRef", "$recursiveRef")


class _Place(NamedTuple):
    """Where the reader is: a property, by its path in the event or record that it belongs to."""

    where: str
    "For people, as a JSON pointer into the schema."
    path: str
    optional: bool
    above: tuple[str, ...]
    "The references that it lies in."


class JsonTypeReader:
    """Reads one object of a schema as an event type; refuses, by its place, what an event cannot be."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self.whole = whole
        self.defaults: dict[tuple[EventType, str], Any] = {}
        self.count = 0
        self._referred: dict[str, tuple[Mapping[str, Any], bool, tuple[str, ...]]] = {}
        "What references have led to, and by which others."

    def event_type(self, name: str) -> EventType:
        """The type of the documents."""
        schema, _, above = self.resolve(self.whole, "#", ())
        if "object" not in type_names(schema, "#"):
            raise SchemaError("#: an event is an object; the schema describes none")
        return self.type(name, schema, _Place("#", "", False, above))

    def type(self, name: str, schema: Mapping[str, Any], place: _Place) -> EventType:
        """The type of an event, or of the records that an array holds."""
        always: list[str] = []
        defaults: dict[str, Any] = {}
        fields = tuple(self.fields(schema, place._replace(path="", optional=False), always, defaults))
        inside = {path: [f for f in fields if f.path.startswith(f"{path}/")] for path in always}
        kept = tuple(path for path, below in inside.items() if all(map(_may_be_missing, below)))
        found = EventType(name, fields, always=kept)
        self.defaults.update({(found, path): value for path, value in defaults.items()})
        return found

    def fields(
        self, schema: Mapping[str, Any], outer: _Place, always: list[str], defaults: dict[str, Any]
    ) -> Iterator[Field]:
        """The fields of an object, in the schema's order."""
        if outer.where.count("/") > 2 * MAX_DEPTH:
            raise SchemaError(f"{outer.where[:80]}...: nested deeper than {MAX_DEPTH}")
        required = schema.get("required", ())
        for name, told in schema.get("properties", {}).items():
            where = f"{outer.where}/properties/{name}"
            if told is False:
                continue
            if not _NAME.fullmatch(name):
                raise SchemaError(f"{where[:200]}: {name[:40]!r} cannot be a step of a path")
            inner, null, above = self.resolve(told, where, outer.above)
            names = type_names(inner, where)
            optional = outer.optional or name not in required or null or "null" in names
            path = f"{outer.path}/{name}" if outer.path else name
            place = _Place(where, path, optional, above)
            if "default" in inner and not isinstance(inner["default"], dict | list):
                defaults[path] = inner["default"]
            yield from self.property(
                inner, [each for each in names if each != "null"], place, always, defaults
            )

    def property(
        self,
        schema: Mapping[str, Any],
        names: list[str],
        place: _Place,
        always: list[str],
        defaults: dict[str, Any],
    ) -> Iterator[Field]:
        """The fields that a property is: one, those of an object, or none if it may be anything."""
        if not names:
            return
        if len(names) > 1:
            raise SchemaError(f"{place.where}: of the types {', '.join(names)} an event's field has one")
        if names == ["array"]:
            yield self.counted(Field(place.path, self.records(schema, place)), place)
        elif names == ["object"]:
            inner = tuple(self.fields(schema, place, always, defaults))
            if not inner or place.optional:
                at = f"{place.path}/{VALUE}" if inner else place.path
                yield self.counted(Field(at, Presence(), place.optional), place)
            else:
                always.append(place.path)
            yield from inner
        else:
            kind = scalar_field_type(schema, names[0], place.where)
            yield self.counted(Field(place.path, kind, place.optional), place)

    def records(self, schema: Mapping[str, Any], place: _Place) -> RecordList:
        """What an array holds."""
        where = f"{place.where}/items"
        name = place.path.rpartition("/")[2]
        if "prefixItems" in schema or isinstance(schema.get("items"), bool | list) or "items" not in schema:
            raise SchemaError(
                f"{place.where}: an array is a sequence of one sort of items; say which by 'items'"
            )
        inner, null, above = self.resolve(schema["items"], where, place.above)
        names = type_names(inner, where)
        if null or "null" in names or len(names) != 1 or names == ("array",):
            raise SchemaError(
                f"{where}: the items of an array are objects, or values of one type, and not null"
            )
        least = 0 if place.optional or not schema.get("minItems", 0) else 1
        inside = _Place(where, "", False, above)
        if names == ("object",):
            record = self.type(name, inner, inside)
            if not record.fields:
                raise SchemaError(f"{where}: objects without properties cannot be told apart")
            return RecordList(record, least)
        return RecordList(EventType(name, (Field(VALUE, scalar_field_type(inner, names[0], where)),)), least)

    def resolve(
        self, schema: Any, where: str, above: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], bool, tuple[str, ...]]:
        """A schema with what it refers to and all of `allOf` in it, and whether it may be null instead."""
        if not isinstance(schema, Mapping):
            return {}, False, above
        for key in _REFUSED:
            if key in schema:
                raise SchemaError(f"{where}: {key} is not understood")
        null, before = False, above
        parts: list[Mapping[str, Any]] = [
            {key: value for key, value in schema.items() if key not in ("$ref", "allOf", *_ALTERNATIVES)}
        ]
        if "$ref" in schema:
            target, null, inside = self.referred(schema["$ref"], where, before)
            parts.append(target)
            above = _union(above, inside)
        for number, each in enumerate(schema.get("allOf", ())):
            target, _, inside = self.resolve(each, f"{where}/allOf/{number}", before)
            parts.append(target)
            above = _union(above, inside)
        for key in _ALTERNATIVES:
            several = schema.get(key, ())
            some = [each for each in several if not _is_null(each)]
            if len(some) == 1 < len(several):
                target, _, inside = self.resolve(some[0], f"{where}/{key}", before)
                parts.append(target)
                above = _union(above, inside)
                null = True
            elif any(isinstance(each, Mapping) and _describes(each) for each in some):
                raise SchemaError(f"{where}/{key}: which of several it is would depend on the document")
        return _merge(parts, where), null, above

    def referred(self, pointer: str, where: str, above: tuple[str, ...]) -> Any:
        """What a reference leads to, in this document."""
        if pointer != "#" and not pointer.startswith("#/"):
            raise SchemaError(f"{where}: {pointer[:80]!r} is not in this document; others are never read")
        known = self._referred.get(pointer)
        passes = {pointer} if known is None else {pointer, *known[2]}
        if pointer == "#" or not passes.isdisjoint(above):
            raise SchemaError(f"{where}: {pointer[:80]!r} is recursive, and an event ends somewhere")
        if known is not None:
            return known[0], known[1], _union(above, known[2])
        found: Any = self.whole
        for written in pointer.split("/")[1:]:
            step = written.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and step in found:
                found = found[step]
            elif isinstance(found, list) and step.isdecimal() and int(step[:9]) < len(found):
                found = found[int(step)]
            else:
                raise SchemaError(f"{where}: nothing is at {pointer[:80]!r}")
        resolved = self.resolve(found, pointer, (*above, pointer))
        passed = tuple(each for each in resolved[2] if each not in above)
        self._referred[pointer] = (resolved[0], resolved[1], passed)
        return resolved

    def counted(self, field: Field, place: _Place) -> Field:
        """The field, if there are not too many already: references multiply."""
        self.count += 1
        if self.count > MAX_FIELDS:
            raise SchemaError(f"{place.where[:80]}: an event of more than {MAX_FIELDS} fields")
        return field


def _union(above: tuple[str, ...], inside: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(above + inside))


def _describes(schema: Mapping[str, Any]) -> bool:
    """Whether it says what a value is, rather than only restricts it."""
    return any(key in schema for key in ("type", "properties", "items", "enum", "const", "$ref", "allOf"))


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _merge(parts: list[Mapping[str, Any]], where: str) -> Mapping[str, Any]:
    """All of several schemas: properties of all, whatever each requires, the narrower bounds."""
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key not in merged:
                merged[key] = value
            elif key == "properties":
                for name, told in value.items():
                    if merged[key].get(name, told) != told:
                        raise SchemaError(f"{where}: the property {name[:40]!r} is described in two ways")
                merged[key] = {**merged[key], **value}
            elif key == "required":
                merged[key] = [*merged[key], *value]
            elif key in ("minimum", "exclusiveMinimum", "minItems"):
                merged[key] = max(merged[key], value)
            elif key in ("maximum", "exclusiveMaximum"):
                merged[key] = min(merged[key], value)
            elif key in ("type", "enum", "const", "items", "format") and merged[key] != value:
                raise SchemaError(f"{where}: {key!r} is said twice, and not the same")
    return merged


def _may_be_missing(field: Field) -> bool:
    return field.kind.least == 0 if isinstance(field.kind, RecordList) else field.optional
