"""Encoding and decoding of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roamcast.content.schema import EventType
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import DeclarationError, WireError
from roamcast.wire.message import Message, read_body, write_body

LONGEST = 65_507
"Maximum size of a message [B]: the payload of a UDP datagram."


def encode(message: Message) -> bytes:
    """Return the bytes of a message, including padding; raise `WireError` if a field is out of bounds."""
    out = bytearray()
    write_body(out, message)
    out += bytes(max(message.minimum_size - len(out), 0))
    if len(out) > LONGEST:
        raise WireError(f"{type(message).__name__}: {len(out)} bytes; the maximum is {LONGEST}")
    return bytes(out)


class MessageCodec:
    """The message kinds and the event types that a node can decode."""

    def __init__(self, messages: Iterable[type[Message]], types: Mapping[str, EventType] = {}) -> None:
        self.kinds: dict[int, type[Message]] = {}
        for message in messages:
            other = self.kinds.setdefault(message.number, message)
            if other is not message:
                raise DeclarationError(
                    f"{message.__name__} and {other.__name__} both have the number {message.number}"
                )
        self.types: dict[str, EventType] = dict(types)

    def decode(self, data: bytes) -> Message:
        """Return the message that `encode` wrote as `data`; raise `WireError` for other bytes."""
        if len(data) > LONGEST:
            raise WireError(f"{len(data)} bytes; the maximum is {LONGEST}")
        octets = ByteReader(data, self.kinds, self.types)
        message = read_body(octets)
        octets.close(max(message.minimum_size - octets.at, 0))
        return message
