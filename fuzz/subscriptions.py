"""Fuzz the parser of subscriptions: a filter that prints and reads back or a refusal."""

import sys
from contextlib import suppress

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.area_type import AreaType
    from roamcast.content.codec import decode_event
    from roamcast.content.errors import ContentError, FilterError, FilterTooComplex
    from roamcast.content.event import Event
    from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, String
    from roamcast.content.filter import Filter
    from roamcast.content.schema import EventType
    from roamcast.content.summary import EventDigest, Summary
    from roamcast.content.xpath.guess import guess_types

T = EventType(
    "T",
    {
        "@i": Integer(),
        "d": Decimal(0, 100),
        "d/@u": String(),
        "b/o": Boolean(),
        "b/e": Enumeration(("pop", "jazz")),
        "b/s": String(),
        "w": Date(),
        "z": AreaType(),
        "p/@lat": Decimal(-90, 90),
        "p/@lon": Decimal(-180, 180),
    },
    optional=("@i", "d", "d/@u", "b/s", "z"),
)


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input."""
    text = data.decode("utf-8", "replace")
    try:
        wanted = Filter.parse(text, T)
    except FilterError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert Filter.parse(str(wanted), T) == wanted
        assert Filter.from_bytes(wanted.to_bytes(), T) == wanted
        assert wanted.covers(wanted)
        with suppress(FilterTooComplex):
            inside, outside = wanted.example(), wanted.counterexample()
            assert inside is None or wanted.matches(Event.complete(T, list(inside.values)))
            assert outside is None or not wanted.matches(Event.complete(T, list(outside.values)))
    for read in (
        lambda: guess_types([text]),
        lambda: Filter.from_bytes(T.fingerprint + data, T),
        lambda: decode_event(T.fingerprint + data, T),
        lambda: Summary.from_bytes(data),
        lambda: EventDigest.from_bytes(T.fingerprint + data),
    ):
        with suppress(ContentError):
            read()


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
