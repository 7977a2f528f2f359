"""Conversion of JSON Schema objects to event types."""

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
    """The reader's position: a property, by its path in the event or record that it belongs to."""

    where: str
    "For messages: a JSON pointer into the schema."
    path: str
    optional: bool
    above: tuple[str, ...]
    "The references that lead to it."


class JsonTypeReader:
    """Converts one object of a schema to an event type; rejects unsupported constructs with their
    position.
    """

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self.whole = whole
        self.defaults: dict[tuple[EventType, str], Any] = {}
        self.count = 0
        self._referred: dict[str, tuple[Mapping[str, Any], bool, tuple[str, ...]]] = {}
        "Resolved references: schema, whether it may be null, and the references on the way."

    def event_type(self, name: str) -> EventType:
        """Return the event type of the documents."""
        schema, _, above = self.resolve(self.whole, "#", ())
        if "object" not in type_names(schema, "#"):
            raise SchemaError("#: an event must be an object; the schema describes none")
        return self.type(name, schema, _Place("#", "", False, above))

    def type(self, name: str, schema: Mapping[str, Any], place: _Place) -> EventType:
        """Return the type of an event, or of the records of an array."""
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
        """Yield the fields of an object, in the order of the schema."""
        if outer.where.count("/") > 2 * MAX_DEPTH:
            raise SchemaError(f"{outer.where[:80]}...: nested deeper than {MAX_DEPTH}")
        required = schema.get("required", ())
        for name, declared in schema.get("properties", {}).items():
            where = f"{outer.where}/properties/{name}"
            if declared is False:
                continue
            if not _NAME.fullmatch(name):
                raise SchemaError(f"{where[:200]}: {name[:40]!r} is not a valid name in a path")
            inner, null, above = self.resolve(declared, where, outer.above)
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
        """Yield the fields of a property: one, those of an object, or none if the property may be
        anything.
        """
        if not names:
            return
        if len(names) > 1:
            raise SchemaError(
                f"{place.where}: the property has the types {', '.join(names)}; a field has one type"
            )
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
        """Return the record list of an array."""
        where = f"{place.where}/items"
        name = place.path.rpartition("/")[2]
        if "prefixItems" in schema or isinstance(schema.get("items"), bool | list) or "items" not in schema:
            raise SchemaError(f"{place.where}: an array must have items of one type, declared by 'items'")
        inner, null, above = self.resolve(schema["items"], where, place.above)
        names = type_names(inner, where)
        if null or "null" in names or len(names) != 1 or names == ("array",):
            raise SchemaError(
                f"{where}: the items of an array must be objects or values of one type, and not null"
            )
        min_records = 0 if place.optional or not schema.get("minItems", 0) else 1
        inside = _Place(where, "", False, above)
        if names == ("object",):
            record = self.type(name, inner, inside)
            if not record.fields:
                raise SchemaError(f"{where}: the objects of an array must have properties")
            return RecordList(record, min_records)
        return RecordList(
            EventType(name, (Field(VALUE, scalar_field_type(inner, names[0], where)),)), min_records
        )

    def resolve(
        self, schema: Any, where: str, above: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], bool, tuple[str, ...]]:
        """Return a schema merged with its `$ref` and `allOf`, whether it may be null, and its references."""
        if not isinstance(schema, Mapping):
            return {}, False, above
        for key in _REFUSED:
            if key in schema:
                raise SchemaError(f"{where}: {key} is not supported")
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
                raise SchemaError(f"{where}/{key}: alternatives are not supported, except with null")
        return _merge(parts, where), null, above

    def referred(self, pointer: str, where: str, above: tuple[str, ...]) -> Any:
        """Return the resolved target of a reference in this document."""
        if pointer != "#" and not pointer.startswith("#/"):
            raise SchemaError(
                f"{where}: {pointer[:80]!r} is not in this document; other documents are never read"
            )
        known = self._referred.get(pointer)
        passes = {pointer} if known is None else {pointer, *known[2]}
        if pointer == "#" or not passes.isdisjoint(above):
            raise SchemaError(f"{where}: {pointer[:80]!r} is recursive, which an event cannot be")
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
                raise SchemaError(f"{where}: {pointer[:80]!r} does not exist")
        resolved = self.resolve(found, pointer, (*above, pointer))
        passed = tuple(each for each in resolved[2] if each not in above)
        self._referred[pointer] = (resolved[0], resolved[1], passed)
        return resolved

    def counted(self, field: Field, place: _Place) -> Field:
        """Return the field; raise `SchemaError` if the event has too many, since references multiply
        fields.
        """
        self.count += 1
        if self.count > MAX_FIELDS:
            raise SchemaError(f"{place.where[:80]}: the event has more than {MAX_FIELDS} fields")
        return field


def _union(above: tuple[str, ...], inside: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(above + inside))


def _describes(schema: Mapping[str, Any]) -> bool:
    """Return whether the schema defines the value, rather than only restricting it."""
    return any(key in schema for key in ("type", "properties", "items", "enum", "const", "$ref", "allOf"))


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _merge(parts: list[Mapping[str, Any]], where: str) -> Mapping[str, Any]:
    """Merge several schemas: all properties and requirements, and the narrower bounds."""
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key not in merged:
                merged[key] = value
            elif key == "properties":
                for name, declared in value.items():
                    if merged[key].get(name, declared) != declared:
                        raise SchemaError(
                            f"{where}: the property {name[:40]!r} is declared twice with different schemas"
                        )
                merged[key] = {**merged[key], **value}
            elif key == "required":
                merged[key] = [*merged[key], *value]
            elif key in ("minimum", "exclusiveMinimum", "minItems"):
                merged[key] = max(merged[key], value)
            elif key in ("maximum", "exclusiveMaximum"):
                merged[key] = min(merged[key], value)
            elif key in ("type", "enum", "const", "items", "format") and merged[key] != value:
                raise SchemaError(f"{where}: {key!r} is declared twice with different values")
    return merged


def _may_be_missing(field: Field) -> bool:
    return field.kind.least == 0 if isinstance(field.kind, RecordList) else field.optional
