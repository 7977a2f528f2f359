"""The command `roamcast filter explain`: what a subscription means, by example."""

from __future__ import annotations

import json as json_
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.filters.inputs import AsJson, Given, Schema, guess, read_parameters

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.xml.xsd import XmlSchema


def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The subscription.")],
    schema: Schema = None,
    given: Given = None,
    json: AsJson = False,
) -> None:
    """Show the normal form, fields and examples of a subscription.

    The examples are an event that matches and one that does not.
    """
    from roamcast.content.box.field_order import PAIR, members
    from roamcast.content.filter import Filter
    from roamcast.content.printer import write_part
    from roamcast.content.schema_file import load_schema

    loaded = None if schema is None else load_schema(schema)
    values = read_parameters(given)
    filter = Filter.parse(xpath, guess([xpath], values) if loaded is None else loaded.types, **values)
    fields = filter.type.fields
    places = {place for each in filter.conjunctions for place, _ in each}
    used = sorted({at for place in places for at in (members(place) if place >= PAIR else (place,))})
    alternatives = [
        [write_part(filter.type, p, domain) for p, domain in each] for each in filter.conjunctions
    ]
    usual = {} if loaded is None else loaded.example_texts(filter.type)
    matching, doubt = _write_first(loaded, filter.examples(usual))
    other, other_doubt = _write_first(loaded, filter.counterexamples(usual))
    record: dict[str, Any] = {
        "filter": str(filter),
        "type": filter.type.name,
        "alternatives": alternatives,
        "fields": [
            {"path": fields[p].path, "kind": fields[p].kind.name, "optional": fields[p].optional}
            for p in used
        ],
        "bytes": len(filter.to_bytes()),
        "matches": matching,
        "does_not_match": other,
        "notes": [note for note in (doubt, other_doubt) if note],
    }
    if json:
        print(json_.dumps(record, ensure_ascii=False))
        return
    print(f"normal form     {record['filter']}")
    for number, parts in enumerate(alternatives, 1):
        print(f"alternative {number}   {' and '.join(parts) or f'every event of type {filter.type.name}'}")
    for field in record["fields"]:
        missing = ", may be missing" if field["optional"] else ""
        print(f"field           {field['path']} ({field['kind']}{missing})")
    print(f"on the air      {record['bytes']} bytes")
    print(f"matches         {matching or 'no event'}")
    print(f"does not match  {other or 'no event: it matches all'}")
    for note in record["notes"]:
        print(f"note            {note}")


def _write_first(schema: XmlSchema | JsonSchema | None, events: Iterator[Event]) -> tuple[str | None, str]:
    """Return a document of the first event that can be written, and a note about it (may be empty)."""
    from roamcast.content.errors import FilterTooComplex
    from roamcast.content.xml.document import write_xml

    try:
        if schema is not None:
            document, doubt = schema.write_first(events) or (None, "")
        else:
            document, doubt = next((write_xml(event) for event in events), None), ""
    except FilterTooComplex as error:
        return "(not found)", str(error)
    if document is None:
        return None, ""
    return document.decode(), doubt and f"the example {document.decode()} is not valid: {doubt}"
