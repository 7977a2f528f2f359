"""Publications: an event with its publisher and sequence number."""

from __future__ import annotations

from typing import Any

import msgspec

from roamcast.content.codec import decode_event
from roamcast.content.errors import ContentError, UnknownType
from roamcast.content.event import Event
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.encodings import encoded_event
from roamcast.wire.errors import UnknownEventType, WireError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext, NodeId

HEADER = 12
"Size of the header before the event [B]: publisher, sequence number, padded size, length of the event."


_set = msgspec.structs.force_setattr


class Publication(msgspec.Struct, frozen=True, gc=False):
    """An event with its publisher and its sequence number."""

    publisher: NodeId
    sequence: int
    """Counted in a circle, and not repeated soon after a restart: in the simulator the highest byte is the
    publisher's incarnation, and a count from 1 follows; live nodes keep the count on disk.
    """
    event: Event
    size: int = 512
    "Minimum size of a message that carries the publication [B]; a shorter one is padded."

    id: int = -1
    "Id of the publication in the whole network, computed from publisher and sequence number."
    length: int = -1
    "Size in a message [B], computed from the event."

    def __post_init__(self) -> None:
        _set(self, "id", self.publisher << 32 | self.sequence)
        _set(self, "length", HEADER + len(encoded_event(self.event)))


class PublicationField(FieldCodec):
    """A publication that the message carries."""

    def length(self, value: Any) -> int:
        """Return the size of the header and the event [B]."""
        return int(value.length)

    def write(self, out: bytearray, value: Any) -> None:
        """Append publisher, sequence number, padded size, and the encoded event."""
        data = encoded_event(value.event)
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
        """Decode a publication of one of the known event types."""
        publisher, sequence, size = octets.integer(4), octets.integer(4), octets.integer(2)
        if publisher > HIGHEST_NODE:
            raise WireError(f"{publisher} is not a valid node id")
        try:
            event = decode_event(octets.take(octets.integer(2)), octets.types)
        except UnknownType as error:
            raise UnknownEventType(error.fingerprint) from None
        except ContentError as error:
            raise WireError(str(error)) from None
        return Publication(publisher, sequence, event, size)

    def generate(self, about: GenerationContext) -> Publication:
        """Return an existing publication, or one that was never published."""
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
        """Return the size in words."""
        return f"{HEADER} B and the event's own; the message is padded to the publication's size"
