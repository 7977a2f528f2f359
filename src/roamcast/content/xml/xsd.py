"""Event types from XML Schema, and validation of documents.

xmlschema reads the schema and libxml2 validates documents. Constructs that an event type cannot represent
(mixed, recursive or abstract content) are rejected when the schema is read, with their name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from roamcast.content.errors import ContentError
from roamcast.content.event import Event, pick_type
from roamcast.content.schema import EventType
from roamcast.content.xml import schema_cost
from roamcast.content.xml.document import check_document, read_xml, undeclared, write_xml
from roamcast.content.xml.errors import SchemaError, XmlError
from roamcast.content.xml.form import DocumentForm
from roamcast.content.xml.xsd_type import XsdTypeReader

MAX_SCHEMA = 1 << 20
_LOOKED_AT = 1 << 14
"Maximum number of visited elements and attributes, in addition to one per character of the schema."
_XS = "http://www.w3.org/2001/XMLSchema"
_XML = "http://www.w3.org/XML/1998/namespace"
_SAFE: dict[str, Any] = {"resolve_entities": "internal", "no_network": True}


class _Types(dict[str, EventType]):
    """Event types by name; a missing name that the schema declares raises the reason for its rejection."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, str] = {}

    def __missing__(self, name: str) -> EventType:
        if name in self.refused:
            raise SchemaError(f"{name!r} is not an event type: {self.refused[name]}")
        raise KeyError(name)


class XmlSchema:
    """The event types of one schema: every global element with child elements or attributes."""

    def __init__(self, text: bytes, source: Path | None = None, defaults: bool = False) -> None:
        import xmlschema
        from lxml import etree

        if len(text) > MAX_SCHEMA:
            raise SchemaError(f"the schema is longer than {MAX_SCHEMA} bytes")
        where: dict[str, Any] = {"allow": "none"}
        if source is not None:
            where = {"allow": "sandbox", "base_url": str(source.resolve().parent)}
        base = {"base_url": str(source.resolve())} if source is not None else {}
        try:
            # xmlschema interprets text that is not XML as a file name, so lxml parses it first.
            document = etree.fromstring(text, etree.XMLParser(**_SAFE), **base)
            schema_cost.check_document(document, len(text))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", xmlschema.XMLSchemaImportWarning)
                warnings.simplefilter("error", xmlschema.XMLSchemaIncludeWarning)
                parsed = xmlschema.XMLSchema(text.decode("utf-8-sig"), defuse="always", **where)
            schema_cost.check_cost(parsed)
            for imported in document.iterfind(f"{{{_XS}}}import[@namespace='{_XML}']"):
                imported.set("schemaLocation", str(Path(__file__).with_name("xml.xsd")))
            self._validator = etree.XMLSchema(document)
        except (xmlschema.XMLSchemaImportWarning, xmlschema.XMLSchemaIncludeWarning) as error:
            raise SchemaError(f"a required schema is not available: {_first_line(error)}") from None
        except RecursionError:
            raise SchemaError("types or groups are nested too deeply") from None
        except (xmlschema.XMLSchemaException, etree.LxmlError, ValueError, SyntaxError) as error:
            blocked = "block access" in str(error)
            reason = "a required schema is not available" if blocked else "not an XML Schema"
            raise SchemaError(f"{reason}: {_first_line(error)}") from None
        self._defaults = defaults
        self.files = sorted({Path(each.filepath) for each in _schemas(parsed) if each.filepath})
        "The files that the schema includes or imports."
        self.namespace: str = parsed.target_namespace or ""
        self.types = _Types()
        self.forms: dict[str, DocumentForm] = {}
        self._usual: dict[str, dict[int, str]] = {}
        self._left = _LOOKED_AT + sum(len(each.source.get_text()) for each in _schemas(parsed))
        for element in parsed.elements.values():
            if element.type.is_complex() and not element.abstract and not element.type.abstract:
                self._add(element)
        if not self.types:
            reasons = list(self.types.refused.values())
            raise SchemaError(
                reasons[0]
                if reasons
                else "the schema has no global element with child elements or attributes"
            )

    def _add(self, element: Any) -> None:
        reader = XsdTypeReader(self.namespace, self._left)
        try:
            type = self.types[element.local_name] = reader.event_type(element)
            self.forms[type.name] = reader.form(self._defaults)
            self._usual[type.name] = {
                type.index(path): text for path, text in reader.usual.items() if type.has(path)
            }
        except ContentError as error:
            self.types.refused[element.local_name] = str(error)
        self._left = reader.left

    @classmethod
    def load(cls, path: Path, defaults: bool = False) -> XmlSchema:
        """Read a schema file, which may include files beside it, but never from a network.

        With `defaults`, values that a document omits get the schema's defaults. The event types are the same,
        so nodes with different settings still understand each other.
        """
        try:
            with path.open("rb") as file:
                text = file.read(MAX_SCHEMA + 1)
        except OSError as error:
            raise SchemaError(f"{path}: cannot be read: {error.strerror}") from None
        try:
            return cls(text, path, defaults)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from None

    def type(self, name: str | None = None) -> EventType:
        """Return the type called `name`, or the only type."""
        if name is None:
            if len(self.types) > 1:
                raise SchemaError(
                    f"the schema has several event types: {', '.join(self.types)}; choose one by name"
                )
            return next(iter(self.types.values()))
        return pick_type(name, self.types)

    def read(self, data: bytes | str) -> Event:
        """Return the event of a document that is valid by the schema."""
        event = read_xml(data, self.types, self.forms)
        self._validate(check_document(data))
        return event

    def write(self, event: Event) -> bytes:
        """Return the event as a document that is valid by the schema."""
        data = write_xml(event, self.forms[event.type.name])
        self._validate(data.decode())
        return data

    def example_texts(self, type: EventType) -> dict[int, str]:
        """Return texts for examples by field index, which satisfy the patterns of the schema."""
        return self._usual[type.name]

    def write_first(self, events: Iterable[Event]) -> tuple[bytes, str] | None:
        """Return the first event that is valid as a document; if none is, the first event and its error."""
        refused: tuple[bytes, str] | None = None
        for event in islice(events, 64):
            try:
                return self.write(event), ""
            except XmlError as error:
                refused = refused or (write_xml(event, self.forms[event.type.name]), str(error))
        return refused

    def _validate(self, text: str) -> None:
        from lxml import etree

        try:
            document = etree.fromstring(undeclared(text), etree.XMLParser(**_SAFE))
        except etree.XMLSyntaxError as error:
            raise XmlError(f"not XML: {str(error)[:200]}") from None
        try:
            valid = self._validator.validate(document)
        except etree.XMLSchemaValidateError:
            raise XmlError("matching a value with a pattern of the schema takes too long") from None
        if not valid:
            log: Any = self._validator.error_log
            raise XmlError(f"not valid against the schema: {log.last_error.message}")


def _schemas(parsed: Any) -> Iterable[Any]:
    """Return the schema and those that it includes or imports, without the schema of schemas."""
    return (
        each for found in parsed.maps.namespaces.values() for each in found if each.meta_schema is not None
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(":")[:300] or type(error).__name__
