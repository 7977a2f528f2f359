"""Messages as bytes, and bytes as messages: all that a node can say and understand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roamcast.content.schema import EventType
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import DeclarationError, WireError
from roamcast.wire.message import Message, read_body, write_body

LONGEST = 65_507
"Bytes of a message: what UDP can carry."


def encode(message: Message) -> bytes:
    """The bytes of a message on the air, padding included; or a `WireError` if a field is out of bounds."""
    out = bytearray()
    write_body(out, message)
    out += bytes(max(message.minimum_size - len(out), 0))
    if len(out) > LONGEST:
        raise WireError(f"{type(message).__name__}: {len(out)} bytes; {LONGEST} are the most")
    return bytes(out)


class MessageCodec:
    """The kinds of message and the event types that a node understands."""

    def __init__(self, messages: Iterable[type[Message]], types: Mapping[str, EventType] = {}) -> None:
        self.kinds: dict[int, type[Message]] = {}
        for message in messages:
            other = self.kinds.setdefault(message.number, message)
            if other is not message:
                raise DeclarationError(
                    f"{message.__name__} and {other.__name__} are both of kind {message.number}"
                )
        self.types: dict[str, EventType] = dict(types)

    def decode(self, data: bytes) -> Message:
        """The message that `encode` wrote as `data`; anything else is a `WireError`."""
        if len(data) > LONGEST:
            raise WireError(f"{len(data)} bytes; {LONGEST} are the most")
        octets = ByteReader(data, self.kinds, self.types)
        message = read_body(octets)
        octets.close(max(message.minimum_size - octets.at, 0))
        return message
