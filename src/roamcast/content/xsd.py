"""Event types from XML Schema, and documents validated against it.

xmlschema reads the schema and libxml2 validates documents. What an event cannot be (repeated, mixed,
recursive, alternative or unforeseen content) is refused when the schema is read, by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, pick_type
from roamcast.content.kind import INT64, Boolean, Date, Decimal, Enumeration, Integer, Kind, String
from roamcast.content.ranges import after, before
from roamcast.content.schema import MAX_DEPTH, EventType, Field
from roamcast.content.xml import XmlError, check_document, read_xml, undeclared, write_xml

MAX_SCHEMA = 1 << 20
_XS = "{http://www.w3.org/2001/XMLSchema}"
_AS_TEXT = frozenset(("dateTime", "time", "duration", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"))
"Types without a kind of their own; they compare as text."
_SAFE: dict[str, Any] = {"resolve_entities": "internal", "no_network": True}


class SchemaError(ContentError):
    """A schema that cannot be read, or that describes what no event can be."""


class _Types(dict[str, EventType]):
    """Event types by name, which know why a global element is none."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, str] = {}

    def __missing__(self, name: str) -> EventType:
        if name in self.refused:
            raise SchemaError(f"{name!r} is no event type: {self.refused[name]}")
        raise KeyError(name)


class XmlSchema:
    """The event types of one schema: every global element that holds others or attributes."""

    def __init__(self, text: bytes, source: Path | None = None) -> None:
        import xmlschema
        from lxml import etree

        if len(text) > MAX_SCHEMA:
            raise SchemaError(f"the schema is longer than {MAX_SCHEMA} bytes")
        where: dict[str, Any] = {"allow": "none"}
        if source is not None:
            where = {"allow": "sandbox", "base_url": str(source.resolve().parent)}
        base = {"base_url": str(source.resolve())} if source is not None else {}
        try:
            # xmlschema takes text that is no XML for the name of a file, so lxml reads it first.
            document = etree.fromstring(text, etree.XMLParser(**_SAFE), **base)
            with warnings.catch_warnings():
                warnings.simplefilter("error", xmlschema.XMLSchemaImportWarning)
                warnings.simplefilter("error", xmlschema.XMLSchemaIncludeWarning)
                parsed = xmlschema.XMLSchema(text.decode("utf-8-sig"), defuse="always", **where)
            self._validator = etree.XMLSchema(document)
        except (xmlschema.XMLSchemaException, etree.LxmlError, ValueError, SyntaxError, Warning) as error:
            raise SchemaError(f"not an XML Schema: {_first_line(error)}") from None
        self.namespace: str = parsed.target_namespace or ""
        self.types = _Types()
        for element in parsed.elements.values():
            if element.type.is_complex() and not element.abstract and not element.type.abstract:
                self._add(element)
        if not self.types:
            reasons = list(self.types.refused.values())
            raise SchemaError(reasons[0] if reasons else "the schema has no global element that holds others")

    def _add(self, element: Any) -> None:
        try:
            self.types[element.local_name] = _Reader(self.namespace).event_type(element)
        except ContentError as error:
            self.types.refused[element.local_name] = str(error)

    @classmethod
    def load(cls, path: Path) -> XmlSchema:
        """Read a schema file; it may include files beside it, never from a network."""
        try:
            with path.open("rb") as file:
                text = file.read(MAX_SCHEMA + 1)
        except OSError as error:
            raise SchemaError(f"{path}: cannot be read: {error.strerror}") from None
        try:
            return cls(text, path)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from None

    def type(self, name: str | None = None) -> EventType:
        """The type called `name`, or the only one."""
        if name is None:
            if len(self.types) > 1:
                raise SchemaError(f"the schema has several event types: {', '.join(self.types)}; name one")
            return next(iter(self.types.values()))
        return pick_type(name, self.types)

    def read(self, data: bytes | str) -> Event:
        """The event in a document that is valid by the schema."""
        event = read_xml(data, self.types, self.namespace)
        self._validate(check_document(data))
        return event

    def write(self, event: Event) -> bytes:
        """The event as a document that is valid by the schema."""
        data = write_xml(event, self.namespace)
        self._validate(data.decode())
        return data

    def _validate(self, text: str) -> None:
        from lxml import etree

        try:
            document = etree.fromstring(undeclared(text), etree.XMLParser(**_SAFE))
        except etree.XMLSyntaxError as error:
            raise XmlError(f"not XML: {str(error)[:200]}") from None
        if not self._validator.validate(document):
            log: Any = self._validator.error_log
            raise XmlError(f"not valid by the schema: {log.last_error.message}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(":")[:300] or type(error).__name__


class _Reader:
    """Reads one global element as an event type; refuses, by name, what an event cannot be."""

    def __init__(self, namespace: str) -> None:
        self.prefix = f"{{{namespace}}}" if namespace else ""
        self.always: list[str] = []

    def event_type(self, element: Any) -> EventType:
        name = element.local_name
        fields = tuple(self.fields(element, "", False, (element,)))
        inside = {a: [f for f in fields if f.path.startswith(f"{a}/")] for a in self.always}
        for path, below in inside.items():
            if not below:
                raise SchemaError(f"{name}: element {path!r} holds nothing; give it a value or an attribute")
        always = tuple(path for path, below in inside.items() if all(f.optional for f in below))
        return EventType(name, fields, always=always)

    def fields(self, element: Any, path: str, optional: bool, above: tuple[Any, ...]) -> Iterator[Field]:
        """The fields of a complex element: attributes first, then elements, in the schema's order."""
        where = f"{above[0].local_name}/{path}".rstrip("/")
        if len(above) > MAX_DEPTH:
            raise SchemaError(f"{where[:80]}...: nested deeper than {MAX_DEPTH}")
        type = element.type
        if type.mixed:
            raise SchemaError(f"{where}: mixed content cannot be an event's")
        if type.abstract or element.abstract:
            raise SchemaError(f"{where}: an abstract type or element cannot be an event's")
        inner = f"{path}/" if path else ""
        yield from _attributes(type, where, inner, optional)
        if type.has_simple_content():
            if not path:
                raise SchemaError(f"{where}: the root cannot have a value itself; put it into an element")
            yield Field(path, _kind(element, where), optional)
            return
        if path and not optional:
            self.always.append(path)
        for child, missing in _children(type.content, where, False):
            name = child.local_name
            if child.name != self.prefix + name:
                raise SchemaError(
                    f"{where}/{name}: not in the target namespace {self.prefix.strip('{}')!r}, as an event's"
                    ' elements are (elementFormDefault="qualified" puts local elements there)'
                )
            if any(child.type is outer.type for outer in above):
                raise SchemaError(f"{where}/{name}: recursive content cannot be an event's")
            if child.type.is_complex():
                yield from self.fields(child, inner + name, optional or missing, (*above, child))
            else:
                yield Field(inner + name, _kind(child, f"{where}/{name}"), optional or missing)


def _attributes(type: Any, where: str, inner: str, optional: bool) -> Iterator[Field]:
    for name, attribute in type.attributes.items():
        if name is None:
            raise SchemaError(f"{where}: xs:anyAttribute cannot be an event's")
        if attribute.use == "prohibited":
            continue
        if attribute.name != attribute.local_name:
            raise SchemaError(f"{where}/@{attribute.local_name}: its namespace cannot be an event's")
        kind = _kind(attribute, f"{where}/@{attribute.local_name}")
        yield Field(f"{inner}@{attribute.local_name}", kind, optional or attribute.use != "required")


def _children(group: Any, where: str, missing: bool) -> Iterator[tuple[Any, bool]]:
    """The elements of a model group, each with whether it may be missing."""
    if group.max_occurs == 0:
        return
    if group.max_occurs != 1:
        raise SchemaError(f"{where}: maxOccurs must be 1: an event holds each element once")
    if group.model == "choice" and len(group) > 1:
        raise SchemaError(f"{where}: xs:choice cannot be an event's; write a sequence of optional elements")
    missing = missing or group.min_occurs == 0
    for particle in group:
        if getattr(particle, "model", None) is not None:
            yield from _children(particle, where, missing)
        elif particle.max_occurs == 0:
            continue
        elif particle.name is None:
            raise SchemaError(f"{where}: xs:any cannot be an event's")
        elif particle.max_occurs != 1:
            name = particle.local_name
            raise SchemaError(f"{where}/{name}: maxOccurs must be 1: an event holds each element once")
        else:
            yield particle, missing or particle.min_occurs == 0


def _kind(holder: Any, where: str) -> Kind:
    """The kind of an attribute's or an element's value."""
    simple = getattr(holder.type, "content", holder.type)
    try:
        kind = _kind_of(simple, where)
        return kind if holder.fixed is None else _only(kind, holder.fixed)
    except SchemaError:
        raise
    except ContentError as error:
        raise SchemaError(f"{where}: {error}") from None


def _only(kind: Kind, fixed: str) -> Kind:
    """The kind with one value alone."""
    stored = kind.read(fixed)
    if isinstance(kind, String | Enumeration):
        return Enumeration((fixed,))
    if isinstance(kind, Integer | Decimal):
        return type(kind)(stored, stored)
    return Date(kind.load(stored), kind.load(stored)) if isinstance(kind, Date) else kind


def _kind_of(simple: Any, where: str) -> Kind:
    chain = [simple]
    while chain[-1].base_type is not None and len(chain) < 50:
        chain.append(chain[-1].base_type)
    names = {each.local_name for each in chain}
    if not simple.is_atomic() or any(each.is_list() or each.is_union() for each in chain):
        raise SchemaError(f"{where}: list and union types cannot be an event's")
    listed = next((each.enumeration for each in chain if each.enumeration), None)
    if "integer" in names:
        return Integer(*_bounds(chain, int, INT64, listed))
    if names & {"decimal", "double", "float"}:
        return Decimal(*_bounds(chain, float, Decimal().bounds(), listed))
    if "boolean" in names:
        return Boolean()
    if "date" in names:
        low, high = _bounds(chain, lambda value: Date().read(str(value)), Date().bounds(), listed)
        return Date(Date().load(low), Date().load(high))
    if names & {"string", "anyURI"}:
        return Enumeration(tuple(dict.fromkeys(map(str, listed)))) if listed else String()
    if names & _AS_TEXT:
        return String()
    raise SchemaError(
        f"{where}: the type {simple.local_name or simple.base_type.local_name!r} is not understood"
    )


def _bounds(chain: list[Any], read: Any, widest: tuple[Any, Any], listed: Any) -> tuple[Any, Any]:
    """The tightest of the min and max facets of a type and its bases, and around its listed values."""
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
