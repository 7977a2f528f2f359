"""Fuzz the reader of JSON documents: an event that writes and reads back or a refusal."""

import sys
from pathlib import Path

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.errors import ContentError
    from roamcast.content.event import Event
    from roamcast.content.json.json_schema import JsonSchema

EXAMPLES = Path(__file__).parents[1] / "docs/examples"
PLAIN = JsonSchema.load(EXAMPLES / "sensor.schema.json")
FILLED = JsonSchema.load(EXAMPLES / "sensor.schema.json", defaults=True)


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input."""
    for schema in (PLAIN, FILLED):
        try:
            event = schema.read(data)
        except ContentError:
            continue
        assert schema.read(schema.write(event)) == event
        assert Event.of(event.type, event.to_mapping()) == event


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
