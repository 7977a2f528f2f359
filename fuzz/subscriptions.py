"""Fuzz the parser of subscriptions: a filter that prints and reads back or a refusal."""

import sys
from contextlib import suppress

import atheris
import plain_source  # noqa: F401  before roamcast

with atheris.instrument_imports(include=["roamcast"]):
    from roamcast.content.codec import decode_event
    from roamcast.content.errors import ContentError, FilterError
    from roamcast.content.filter import Filter
    from roamcast.content.kind import Boolean, Date, Decimal, Enumeration, Integer, String
    from roamcast.content.schema import EventType
    from roamcast.content.summary import Digest, Summary
    from roamcast.content.xpath.guess import guess_types

T = EventType(
    "T",
    {
        "@i": Integer(),
        "d": Decimal(0, 100),
        "b/o": Boolean(),
        "b/e": Enumeration(("pop", "jazz")),
        "b/s": String(),
        "w": Date(),
    },
    optional=("@i", "b/s"),
)


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
    for read in (
        lambda: guess_types([text]),
        lambda: Filter.from_bytes(T.fingerprint + data, T),
        lambda: decode_event(T.fingerprint + data, T),
        lambda: Summary.from_bytes(data),
        lambda: Digest.from_bytes(T.fingerprint + data),
    ):
        with suppress(ContentError):
            read()


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
