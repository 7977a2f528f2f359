"""Fuzz the compiled decoder of messages: messages and errors are those of the declarative one."""

import sys

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.content.declare import declare_type
    from roamcast.routing import catalogue
    from roamcast.routing.reference import own_protocols
    from roamcast.wire.codec import MessageCodec, encode
    from roamcast.wire.errors import WireError
    from roamcast.wire.fast.codec import FastCodec
    from roamcast.wire.fast.writer import encode_fast

ALERT = declare_type("alert", {"level": "integer", "text": {"kind": "string", "optional": True}})
TYPES = {"alert": ALERT}
MESSAGES = {message for name in own_protocols() for message in catalogue.find(name).messages}
REFERENCE, FAST = MessageCodec(MESSAGES, TYPES), FastCodec(MESSAGES, TYPES)
NUMBERS = sorted(REFERENCE.kinds)


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input as a message; every `TYPE` in it stands for the fingerprint of a known event type."""
    if not data:
        return
    whole = bytes((NUMBERS[data[0] % len(NUMBERS)],)) + data[1:].replace(b"TYPE", ALERT.fingerprint)
    try:
        expected = REFERENCE.decode(whole)
    except WireError as error:
        try:
            found = FAST.decode(whole)
        except WireError as other:
            assert (type(error), str(error)) == (type(other), str(other)), (error, other)
            return
        raise AssertionError(f"{found!r} instead of {error}") from None
    assert repr(FAST.decode(whole)) == repr(expected)
    assert encode(expected) == encode_fast(expected) == whole


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
