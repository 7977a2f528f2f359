"""A publication: an event that someone published, by a number that names it in the whole network."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from roamcast.content.codec import decode_event, encode_event
from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import WireError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext, NodeId

HEADER = 12
"Bytes before the event: publisher, sequence number, padded size and the event's length."

# The same few events are published again and again, and every message that carries one is measured.
_encode = lru_cache(maxsize=4096)(encode_event)


class Publication(msgspec.Struct, frozen=True, gc=False):
    """An event that someone published: its content, who said it and which of theirs it is."""

    publisher: NodeId
    sequence: int
    "The publisher's incarnation in the highest byte, then a count from 1: after a restart all is new."
    event: Event
    size: int = 512
    "A message that carries it is padded to so many bytes, if it has fewer."

    id: int = -1
    "One number that names this publication in the whole network; follows from publisher and sequence."
    length: int = -1
    "Bytes that it takes in a message; follows from the event."

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "id", self.publisher << 32 | self.sequence)
        msgspec.structs.force_setattr(self, "length", HEADER + len(_encode(self.event)))


class PublicationField(FieldCodec):
    """A publication that the message carries."""

    def length(self, value: Any) -> int:
        """Its header's bytes and the event's."""
        return int(value.length)

    def write(self, out: bytearray, value: Any) -> None:
        """Publisher, sequence number, padded size, and the event as `encode_event` has it."""
        data = _encode(value.event)
        if not (
            0 <= value.publisher <= HIGHEST_NODE
            and 0 <= value.sequence < 2**32
            and 0 <= value.size < 2**16
            and len(data) < 2**16
        ):
            raise WireError(f"{value!r} is out of bounds")
        out += value.publisher.to_bytes(4, "big")
        out += value.sequence.to_bytes(4, "big")
        out += value.size.to_bytes(2, "big")
        out += len(data).to_bytes(2, "big")
        out += data

    def read(self, octets: ByteReader) -> Publication:
        """A publication of one of the event types known here."""
        publisher, sequence, size = octets.integer(4), octets.integer(4), octets.integer(2)
        if publisher > HIGHEST_NODE:
            raise WireError(f"there is no node {publisher}")
        try:
            event = decode_event(octets.take(octets.integer(2)), octets.types)
        except ContentError as error:
            raise WireError(str(error)) from None
        return Publication(publisher, sequence, event, size)

    def generate(self, about: GenerationContext) -> Publication:
        """One that exists, or one that nobody ever published."""
        known = about.random.choice(about.publications)
        if about.random.random() < 0.5:
            return known
        return Publication(
            about.random.choice(about.nodes),
            about.integer(0, 2**32 - 1),
            known.event,
            about.random.choice((known.size, 0, 64, 1500)),
        )

    def describe(self) -> str:
        """A publication."""
        return f"{HEADER} B and the event's own; the message is padded to the publication's size"
