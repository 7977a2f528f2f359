"""Fuzz the readers of schemas: event types whose examples are events, or a refusal."""

import sys

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.errors import ContentError
    from roamcast.content.event import Event
    from roamcast.content.filter import Filter
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.xml.xsd import XmlSchema


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input, as a JSON Schema if it looks like one."""
    try:
        schema = JsonSchema(data) if data.lstrip()[:1] in (b"{", b"[") else XmlSchema(data)
    except ContentError:
        return
    for type in schema.types.values():
        example = Filter.everything(type).example()
        assert example is not None
        assert Event.of(type, example.to_mapping()).type is type


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
