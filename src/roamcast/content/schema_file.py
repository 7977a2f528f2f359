"""Reading schema files and documents of all supported formats: XML Schema with XML, JSON Schema with JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.xml.document import read_file
from roamcast.content.xml.errors import XmlError

if TYPE_CHECKING:
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.xml.xsd import XmlSchema


def load_schema(path: Path, defaults: bool = False) -> XmlSchema | JsonSchema:
    """Return the schema in a file: JSON Schema if its name ends in `.json`, otherwise XML Schema.

    With `defaults`, a field that a document omits gets the default value of the schema.
    """
    if path.suffix == ".json":
        from roamcast.content.json.json_schema import JsonSchema

        return JsonSchema.load(path, defaults)
    from roamcast.content.xml.xsd import XmlSchema

    return XmlSchema.load(path, defaults)


def read_document(schema: XmlSchema | JsonSchema, path: Path) -> Event:
    """Return the event in the document at `path`; raise `ContentError` with the path if it is invalid."""
    return parse_document(schema, read_file(path), path)


def parse_document(schema: XmlSchema | JsonSchema, data: bytes, path: Path) -> Event:
    """Return the event in `data`; errors name `path`."""
    try:
        return schema.read(data)
    except ContentError as error:
        raise XmlError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
