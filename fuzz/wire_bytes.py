"""Fuzz the readers of bytes from the air: filters, events, summaries, digests; one way to write each."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.codec import decode_event, encode_event
    from roamcast.content.codec.event_reader import EventReader
    from roamcast.content.errors import ContentError, FilterTooComplex
    from roamcast.content.filter import Filter
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.schema import EventType
    from roamcast.content.summary import EventDigest, Summary
    from roamcast.content.xml.xsd import XmlSchema

EXAMPLES = Path(__file__).parents[1] / "docs/examples"
CAP_FILES = Path(__file__).parents[1] / "scenarios/cap"
TYPES = (
    XmlSchema.load(CAP_FILES / "cap-1.2.xsd").type("alert"),
    XmlSchema.load(EXAMPLES / "gpx-1.1.xsd").type("gpx"),
    JsonSchema.load(EXAMPLES / "sensor.schema.json").type(),
)


def compare_readers(data: bytes, type: EventType) -> None:
    """Fail unless both decoders of events return the same event, or raise the same error."""
    outcomes = []
    for read in (lambda: decode_event(data, type), lambda: EventReader({"": type}).read(data)):
        try:
            outcomes.append(repr(read().values))
        except ContentError as error:
            outcomes.append(f"{error.__class__.__name__}: {error}")
    assert outcomes[0] == outcomes[1], outcomes


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input, whose first byte says what it is taken for."""
    if not data:
        return
    type = TYPES[data[0] // 4 % len(TYPES)]
    whole = type.fingerprint + data[1:]
    readers: list[tuple[Callable[[], Any], Callable[[Any], bytes], bytes]] = [
        (lambda: Filter.from_bytes(whole, type), Filter.to_bytes, whole),
        (lambda: decode_event(whole, type), encode_event, whole),
        (lambda: Summary.from_bytes(data[1:]), Summary.to_bytes, data[1:]),
        (lambda: EventDigest.from_bytes(whole), EventDigest.to_bytes, whole),
    ]
    read, write, expected = readers[data[0] % 4]
    try:
        found = read()
    except ContentError:
        return
    finally:
        compare_readers(whole, type)
    assert write(found) == expected
    if isinstance(found, Filter):
        printed = Filter.parse(str(found), type)  # which joins alternatives that are one: written otherwise
        assert printed == found or printed.equivalent(found)
        assert found.covers(found)
        try:
            example = found.example()
        except FilterTooComplex:
            return
        assert example is None or found.matches(example)


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
