"""Event types from XML Schema, and documents validated against it.

xmlschema reads the schema and libxml2 validates documents. What an event cannot be (repeated, mixed,
recursive, alternative or unforeseen content) is refused when the schema is read, by name.
"""

from __future__ import annotations

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
_AS_TEXT = frozenset(
    ("dateTime", "time", "duration", "anyURI", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")
)
"Types without a kind of their own; they compare as text."
_SAFE: dict[str, Any] = {"resolve_entities": "internal", "no_network": True}


class SchemaError(ContentError):
    """A schema that cannot be read, or that describes what no event can be."""


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
        try:
            parsed = xmlschema.XMLSchema(text.decode("utf-8-sig"), defuse="always", **where)
            base = {"base_url": str(source.resolve())} if source is not None else {}
            self._validator = etree.XMLSchema(etree.fromstring(text, etree.XMLParser(**_SAFE), **base))
        except (xmlschema.XMLSchemaException, etree.LxmlError, ValueError, SyntaxError) as error:
            raise SchemaError(f"not an XML Schema: {str(error).strip().splitlines()[0][:300]}") from None
        self.namespace: str = parsed.target_namespace or ""
        if self.namespace and parsed.element_form_default != "qualified":
            raise SchemaError('a schema with a target namespace needs elementFormDefault="qualified"')
        self.types: dict[str, EventType] = {}
        refused: list[str] = []
        for element in parsed.elements.values():
            if element.type.is_complex():
                try:
                    self.types[element.local_name] = _event_type(element)
                except SchemaError as error:
                    refused.append(str(error))
        if not self.types:
            raise SchemaError(refused[0] if refused else "the schema has no global element that holds others")
        self._refused = refused

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


def _event_type(element: Any) -> EventType:
    name = element.local_name
    always: list[str] = []
    fields = tuple(_fields(element, "", False, always, (element,)))
    empty = [a for a in always if not any(f.path.startswith(f"{a}/") for f in fields)]
    if empty:
        raise SchemaError(f"{name}: element {empty[0]!r} holds nothing; give it a value or an attribute")
    kept = tuple(a for a in always if all(f.optional for f in fields if f.path.startswith(f"{a}/")))
    return EventType(name, fields, always=kept)


def _fields(
    element: Any, path: str, optional: bool, always: list[str], above: tuple[Any, ...]
) -> Iterator[Field]:
    """The fields of a complex element: attributes first, then elements, in the schema's order."""
    where = f"{above[0].local_name}/{path}".rstrip("/")
    if len(above) > MAX_DEPTH:
        raise SchemaError(f"{where[:80]}...: nested deeper than {MAX_DEPTH}")
    type = element.type
    if type.mixed:
        raise SchemaError(f"{where}: mixed content cannot be an event's")
    inner = f"{path}/" if path else ""
    for name, attribute in type.attributes.items():
        if name is None:
            raise SchemaError(f"{where}: xs:anyAttribute cannot be an event's")
        if attribute.use != "prohibited":
            kind = _kind(attribute.type, f"{where}/@{attribute.local_name}")
            yield Field(f"{inner}@{attribute.local_name}", kind, optional or attribute.use != "required")
    if type.has_simple_content():
        yield Field(path, _kind(type.content, where), optional)
        return
    if path and not optional:
        always.append(path)
    for child, missing in _children(type.content, where):
        below = f"{inner}{child.local_name}"
        if any(child.type is outer.type for outer in above):
            raise SchemaError(f"{where}/{child.local_name}: recursive content cannot be an event's")
        if child.type.is_complex():
            yield from _fields(child, below, optional or missing, always, (*above, child))
        else:
            yield Field(below, _kind(child.type, f"{where}/{child.local_name}"), optional or missing)


def _children(group: Any, where: str, missing: bool = False) -> Iterator[tuple[Any, bool]]:
    """The elements of a model group, each with whether it may be missing."""
    if group.model == "choice" and len(group) > 1:
        raise SchemaError(f"{where}: xs:choice cannot be an event's; write a sequence of optional elements")
    for particle in group:
        name = getattr(particle, "local_name", None) or "content"
        if particle.max_occurs != 1:
            raise SchemaError(f"{where}/{name}: maxOccurs must be 1: an event holds each element once")
        if getattr(particle, "model", None) is not None:
            yield from _children(particle, where, missing or particle.min_occurs == 0)
        elif particle.name is None:
            raise SchemaError(f"{where}: xs:any cannot be an event's")
        else:
            yield particle, missing or particle.min_occurs == 0


def _kind(simple: Any, where: str) -> Kind:
    chain = [simple]
    while chain[-1].base_type is not None and len(chain) < 50:
        chain.append(chain[-1].base_type)
    names = {each.local_name for each in chain}
    if not simple.is_atomic() or any(each.is_list() for each in chain):
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
    if "string" in names:
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
