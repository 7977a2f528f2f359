"""Fuzz the reader of event documents: an event that writes and reads back or a refusal."""

import sys
from contextlib import suppress
from pathlib import Path

import atheris
import plain_source  # noqa: F401  before roamcast
from limits import limited

with atheris.instrument_imports(include=["roamcast"]):
    from roamcast.content.errors import ContentError
    from roamcast.content.event import Event
    from roamcast.content.xml.errors import SchemaError
    from roamcast.content.xml.xsd import XmlSchema

SCHEMA = XmlSchema.load(Path(__file__).parents[1] / "docs/examples/cd.xsd")


@limited
def attempt(data: bytes) -> None:
    """Try one input."""
    try:
        event = SCHEMA.read(data)
    except ContentError:
        pass
    else:
        assert SCHEMA.read(SCHEMA.write(event)) == event
    try:
        event = Event.from_json(data, SCHEMA.types)
    except ContentError:
        pass
    else:
        assert Event.from_json(event.to_json(), SCHEMA.types) == event
    if data[:1] == b"x":
        with suppress(SchemaError):
            XmlSchema(data[1:])


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
