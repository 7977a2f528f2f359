"""Event types out of XML Schema: what of a schema's elements and types an event can be, and what not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from roamcast.content.box.ranges import after, before
from roamcast.content.errors import ContentError
from roamcast.content.kind import INT64, Boolean, Date, Decimal, Enumeration, Integer, Kind, String
from roamcast.content.schema import MAX_DEPTH, EventType, Field

_XS = "{http://www.w3.org/2001/XMLSchema}"
_AS_TEXT = frozenset(("dateTime", "time", "duration", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"))
"Types without a kind of their own; they compare as text."
_FORMS = (
    *("x", "2005-03-08T12:00:00", "12:00:00", "P1D", "2005", "2005-03", "--03", "--03-08", "---08"),
    *(
        "X",
        "xx",
        "xxx",
        "xxxx",
        "xxxxx",
        "xxxxxxxx",
        "XX",
        "XXX",
        "XXXX",
        "1",
        "12",
        "123",
        "12345",
        "a@b.cc",
    ),
)
"Texts in the forms that schemas often ask for, tried in turn for an example."


class SchemaError(ContentError):
    """A schema that cannot be read, or that describes what no event can be."""


class TypeReader:
    """Reads one global element as an event type; refuses, by name, what an event cannot be."""

    def __init__(self, namespace: str) -> None:
        self.prefix = f"{{{namespace}}}" if namespace else ""
        self.always: list[str] = []
        self.usual: dict[str, str] = {}
        "Texts for examples, by path."

    def event_type(self, element: Any) -> EventType:
        """The event type of a global element."""
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
        yield from self.attributes(type, where, inner, optional)
        if type.has_simple_content():
            if not path:
                raise SchemaError(f"{where}: the root cannot have a value itself; put it into an element")
            yield self.field(element, where, path, optional)
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
                yield self.field(child, f"{where}/{name}", inner + name, optional or missing)

    def attributes(self, type: Any, where: str, inner: str, optional: bool) -> Iterator[Field]:
        """The fields that an element's attributes are."""
        for name, attribute in type.attributes.items():
            if name is None:
                raise SchemaError(f"{where}: xs:anyAttribute cannot be an event's")
            if attribute.use == "prohibited":
                continue
            step = f"@{attribute.local_name}"
            if attribute.name != attribute.local_name:
                raise SchemaError(f"{where}/{step}: its namespace cannot be an event's")
            yield self.field(
                attribute, f"{where}/{step}", inner + step, optional or attribute.use != "required"
            )

    def field(self, holder: Any, where: str, path: str, optional: bool) -> Field:
        """The field that an attribute or a simple element is."""
        simple = getattr(holder.type, "content", holder.type)
        kind = _kind(simple, holder.fixed, where)
        if isinstance(kind, String):
            fitting = (text for text in _FORMS if simple.is_valid(text))
            self.usual[path] = next(fitting, _FORMS[0])
        return Field(path, kind, optional)


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


def _kind(simple: Any, fixed: str | None, where: str) -> Kind:
    """The kind of an attribute's or an element's value."""
    try:
        kind = _kind_of(simple, where)
        return kind if fixed is None else _only(kind, fixed)
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
