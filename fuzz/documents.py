"""Fuzz the reader of event documents: an event that writes and reads back or a refusal."""

import sys
from contextlib import suppress
from pathlib import Path

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.area_type import AreaType
    from roamcast.content.errors import ContentError
    from roamcast.content.event import Event
    from roamcast.content.xml.errors import SchemaError
    from roamcast.content.xml.xsd import XmlSchema

EXAMPLES = Path(__file__).parents[1] / "docs/examples"
CAP_FILES = Path(__file__).parents[1] / "scenarios/cap"
CD = XmlSchema.load(EXAMPLES / "cd.xsd")
ALERTS = XmlSchema.load(CAP_FILES / "cap-1.2.xsd")
AREA = AreaType()


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input."""
    for schema in (CD, ALERTS):
        try:
            event = schema.read(data)
        except ContentError:
            pass
        else:
            assert schema.read(schema.write(event)) == event
        try:
            event = Event.from_json(data, schema.types)
        except ContentError:
            pass
        else:
            assert Event.from_json(event.to_json(), schema.types) == event
    with suppress(ContentError):
        area = AREA.read(data.decode("utf-8", "replace"))
        assert AREA.read(AREA.write(area)) == area
    if data[:1] == b"x":
        with suppress(SchemaError):
            XmlSchema(data[1:])


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
