"""Options of the commands of `roamcast filter`, and readers of parameters and event documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.schema import EventType
    from roamcast.content.xml.xsd import XmlSchema

Schema = Annotated[
    Path | None,
    typer.Option(
        "--schema", metavar="F.xsd|F.json", help="Event types; inferred from the subscription if omitted."
    ),
]
Defaults = Annotated[bool, typer.Option("--defaults", help="Fill in default values of the schema.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Value of the parameter $NAME. May be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OnSpark = Annotated[bool, typer.Option("--spark", help="Use Spark; inputs are Parquet files.")]


def guess(texts: list[str], parameters: dict[str, str] | None = None) -> dict[str, EventType]:
    """Return the event types that the subscriptions imply, by name."""
    from roamcast.content.xpath.guess import guess_types

    return guess_types(texts, parameters)


def read_parameters(given: list[str] | None) -> dict[str, str]:
    """Return the values of `--set NAME=VALUE`, by name."""
    found: dict[str, str] = {}
    for each in given or []:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{each!r}: expected NAME=VALUE")
        found[name.removeprefix("$")] = value
    return found


def read_event(schema: XmlSchema | JsonSchema, path: Path) -> Event:
    """Return the event in the document at `path`; `-` is standard input."""
    from roamcast.content.schema_file import parse_document

    return parse_document(schema, _read(path), path)


def _read(path: Path) -> bytes:
    from roamcast.content.xml.document import MAX_XML, read_file

    return sys.stdin.buffer.read(MAX_XML + 1) if str(path) == "-" else read_file(path)
