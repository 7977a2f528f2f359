"""Conversion of XML Schema elements to event types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from roamcast.content.field_type import Enumeration, Presence, String
from roamcast.content.record_list import VALUE, RecordList
from roamcast.content.schema import MAX_DEPTH, MAX_FIELDS, EventType, Field
from roamcast.content.xml.content_model import ContentModel, Particle
from roamcast.content.xml.errors import SchemaError
from roamcast.content.xml.form import DocumentForm
from roamcast.content.xml.xsd_field_type import AREAS, field_type_of, item_type

_EMPTY = Enumeration(("",))
_FORMS = (
    *("x", "2005-03-08T12:00:00", "2005-03-08T12:00:00+01:00", "12:00:00", "P1D", "2005", "2005-03", "--03"),
    *("--03-08", "---08", "X", "xx", "xxx", "xxxx", "xxxxx", "xxxxxxxx", "XX", "XXX", "XXXX", "1", "12"),
    *("123", "12345", "a@b.cc", "en"),
)
"Texts in forms that schemas often require, tried in order to find an example."


class XsdTypeReader:
    """Converts one global element to an event type; rejects unsupported constructs with their name."""

    def __init__(self, namespace: str, most: int) -> None:
        self.namespace = namespace
        self.left = most
        "Number of elements and attributes that may still be visited."
        self.names: dict[str, str] = {}
        self.open: set[str] = set()
        self.open_attributes: set[str] = set()
        self.nillable: set[str] = set()
        self.lists: set[str] = set()
        self.usual: dict[str, str] = {}
        "Texts for examples, by full path."
        self._usual_texts: dict[Any, str] = {}
        "By simple type, which many fields share."
        self.defaults: dict[str, str] = {}
        "Default values of attributes and simple elements, by full path."
        self.count = 0

    def event_type(self, element: Any) -> EventType:
        """Return the event type of a global element."""
        return self.type(element, "", (element,))

    def form(self, defaults: bool = False) -> DocumentForm:
        """Return the XML form of the converted type, with or without default values."""
        return DocumentForm(
            self.namespace,
            self.names,
            frozenset(self.open),
            frozenset(self.open_attributes),
            frozenset(self.nillable),
            frozenset(self.lists),
            self.defaults if defaults else {},
        )

    def type(self, element: Any, base: str, above: tuple[Any, ...]) -> EventType:
        """Return the type of an event, or of the records of a repeated element at `base`."""
        always: list[str] = []
        fields = tuple(self.fields(element, _Spot(base, "", False, above), always))
        required = {above for field in fields if not _may_be_missing(field) for above in _above(field.path)}
        return EventType(element.local_name, fields, always=tuple(a for a in always if a not in required))

    def fields(self, element: Any, spot: _Spot, always: list[str]) -> Iterator[Field]:
        """Yield the fields of a complex element: attributes first, then children, in the order of the
        schema.
        """
        type, where = element.type, spot.where
        if len(spot.above) > MAX_DEPTH:
            raise SchemaError(f"{where[:80]}...: elements nested deeper than {MAX_DEPTH}")
        if element.abstract:
            raise SchemaError(f"{where}: abstract elements are not supported")
        if type.abstract:
            raise SchemaError(
                f"{where}: abstract types are not supported: a document would choose the fields by xsi:type"
            )
        content = ContentModel(type.content, where)
        if type.mixed and content.children:
            raise SchemaError(f"{where}: mixed content is not supported")
        if element.nillable and spot.path:
            self.nillable.add(spot.whole)
            spot = spot._replace(optional=True)
        attributes = list(self.attributes(type, spot))
        yield from attributes
        if type.has_simple_content() or (type.mixed and not content.open):
            if not spot.whole:
                raise SchemaError(f"{where}: the root element cannot have a value; use a child element")
            yield self.field(element, spot)
            return
        if content.open:
            self.open.add(spot.whole)
        yield from self.itself(spot, content, bool(attributes), always)
        for child in content.children.values():
            yield from self.child(child, spot, always)

    def itself(
        self, spot: _Spot, content: ContentModel, attributes: bool, always: list[str]
    ) -> Iterator[Field]:
        """Yield a presence field if the element's content may not show that the element is present."""
        holds = bool(content.children)
        if spot.path and not spot.optional and (holds or attributes):
            always.append(spot.path)
        elif spot.path and holds:
            yield self.counted(Field(f"{spot.path}/{VALUE}", Presence(), True), spot)
        elif spot.whole and (spot.path or not (holds or attributes)):
            kind = Presence() if content.open else _EMPTY
            yield self.counted(Field(spot.path or VALUE, kind, spot.optional), spot)

    def child(self, child: Particle, outer: _Spot, always: list[str]) -> Iterator[Field]:
        """Yield the fields of a child element."""
        element = child.element
        spot = self.looked_at(outer.inner(element, child.optional))
        own = f"{{{self.namespace}}}{element.local_name}" if self.namespace else element.local_name
        if element.name != own:
            self.names[spot.whole] = element.name
        if any(element.type is other.type for other in outer.above):
            raise SchemaError(f"{spot.where}: recursive content is not supported")
        if element.nillable:
            self.nillable.add(spot.whole)
        if child.repeated:
            if element.type.is_complex():
                record = self.type(element, spot.whole, spot.above)
            else:
                alone = _Spot(spot.whole, "", False, spot.above)
                record = EventType(element.local_name, (self.field(element, alone),))
            yield self.counted(Field(spot.path, RecordList(record, 0 if spot.optional else 1)), spot)
        elif element.type.is_complex():
            yield from self.fields(element, spot, always)
        else:
            yield self.field(element, spot._replace(optional=spot.optional or element.nillable))

    def attributes(self, type: Any, outer: _Spot) -> Iterator[Field]:
        """Yield the fields of an element's attributes."""
        seen: set[str] = set()
        for name, attribute in type.attributes.items():
            if name is None:
                self.open_attributes.add(outer.whole)
                continue
            if attribute.use == "prohibited":
                continue
            step = f"@{attribute.local_name}"
            spot = self.looked_at(outer.step(step, attribute.use != "required"))
            if step in seen:
                raise SchemaError(f"{spot.where}: attributes of two namespaces have this name")
            seen.add(step)
            if attribute.name != attribute.local_name:
                self.names[spot.whole] = attribute.name
            yield self.field(attribute, spot)

    def field(self, holder: Any, spot: _Spot) -> Field:
        """Return the field of an attribute or a simple element."""
        simple = holder.type
        if simple.is_complex():
            simple = simple.content if simple.has_simple_content() else None
        path = spot.path or VALUE
        default = holder.default if holder.default is not None else holder.fixed
        if default is not None:
            self.defaults[spot.whole] = default
        item = None if simple is None else item_type(simple)
        if item is not None:
            self.lists.add(spot.whole if spot.path else f"{spot.whole}/{VALUE}")
            record = EventType(holder.local_name, (Field(VALUE, field_type_of(item, None, spot.where)),))
            return self.counted(Field(path, RecordList(record)), spot)
        kind = String() if simple is None else field_type_of(simple, holder.fixed, spot.where)
        if isinstance(kind, String) and holder.name in AREAS:
            return self.counted(Field(path, AREAS[holder.name], spot.optional), spot)
        if isinstance(kind, String):
            self.usual[spot.whole] = self.example_text(simple)
        return self.counted(Field(path, kind, spot.optional), spot)

    def example_text(self, simple: Any) -> str:
        """Return an example text that a string type allows."""
        text = self._usual_texts.get(simple)
        if text is None:
            fitting = (text for text in _FORMS if simple is None or simple.is_valid(text))
            text = self._usual_texts[simple] = next(fitting, _FORMS[0])
        return text

    def looked_at(self, spot: _Spot) -> _Spot:
        """Count a visited element or attribute; raise `SchemaError` beyond the limit, since nested types
        multiply.
        """
        self.left -= 1
        if self.left < 0:
            raise SchemaError(f"{spot.where[:80]}: the types of this schema have too many elements in total")
        return spot

    def counted(self, field: Field, spot: _Spot) -> Field:
        """Return the field; raise `SchemaError` if the event has too many."""
        self.count += 1
        if self.count > MAX_FIELDS:
            raise SchemaError(f"{spot.where[:80]}: the event has more than {MAX_FIELDS} fields")
        return field


class _Spot(NamedTuple):
    """The reader's position: an element or attribute, by its path in the event or record that it
    belongs to.
    """

    base: str
    "Path of the record from the root; empty in the event itself."
    path: str
    optional: bool
    above: tuple[Any, ...]
    "The enclosing elements, including itself."

    @property
    def whole(self) -> str:
        """The path from the root."""
        return f"{self.base}/{self.path}" if self.base and self.path else self.base or self.path

    @property
    def where(self) -> str:
        """For messages: the path with the root's name."""
        return f"{self.above[0].local_name}/{self.whole}".rstrip("/")

    def step(self, name: str, optional: bool) -> _Spot:
        """Return the position of an attribute or child."""
        path = f"{self.path}/{name}" if self.path else name
        return self._replace(path=path, optional=self.optional or optional)

    def inner(self, element: Any, optional: bool) -> _Spot:
        """Return the position of a child element."""
        return self.step(element.local_name, optional)._replace(above=(*self.above, element))


def _above(path: str) -> Iterator[str]:
    """Return the paths of the elements that enclose a field."""
    return (path[: slash.start()] for slash in re.finditer("/", path))


def _may_be_missing(field: Field) -> bool:
    return field.kind.least == 0 if isinstance(field.kind, RecordList) else field.optional
