"""Decoding of recorded datagrams, after the run: which message of which router each one carried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from roamcast.content.schema import EventType
from roamcast.live.errors import FrameError
from roamcast.live.link.packets import (
    NUMBER_MASK,
    Acks,
    Broadcast,
    Packet,
    Piece,
    Port,
    Repair,
    Unicast,
    UnicastPiece,
    read_packet,
)
from roamcast.live.security.frame import Opener, Refusal, fingerprint_protocol
from roamcast.live.security.keys import NetworkKey
from roamcast.routing.router import Message, NodeId
from roamcast.testbed.medium import SentDatagram
from roamcast.wire.codec import MessageCodec
from roamcast.wire.errors import WireError
from roamcast.wire.message import unwrap

LINK_KINDS = {
    Port.HELLO: "Greeting",
    Port.TYPE_QUERY: "TypeQuery",
    Port.TYPE: "TypeDefinition",
}
"Kinds of messages between links, by port."
ACKNOWLEDGEMENT, REPAIR, UNREADABLE = "LinkAck", "FragmentRepair", "Unreadable"
CONTROL = "control"


class Carried(NamedTuple):
    """What a datagram carried."""

    kind: str
    category: str
    publication: int
    size: int
    "Size of the router's message, or of the whole datagram for messages between links [B]."
    by_router: bool
    transfer: tuple[int, ...] | None
    "Equal for datagrams that repeat each other; None for those that are never repeated."
    to: int | None
    "The node id to which the packet is addressed, None for everyone."


class FrameReader:
    """Opens and decodes the datagrams of one network, in the order in which they were sent."""

    def __init__(
        self, key: NetworkKey, messages: Sequence[type[Message]], types: Iterable[EventType]
    ) -> None:
        self._opener = Opener(key, fingerprint_protocol(messages), own=-1)
        self._codec = MessageCodec(messages, {type.fingerprint.hex(): type for type in types})
        self._payloads: dict[bytes, tuple[str, str, int]] = {}
        self._pieces: dict[tuple[NodeId, int], dict[int, bytes]] = {}

    def read(self, sent: Iterable[SentDatagram]) -> list[Carried]:
        """Return what each datagram carried."""
        opened = [self._open(each) for each in sent]
        for _, packet, sender in opened:
            if isinstance(packet, Piece | UnicastPiece):
                self._pieces.setdefault((sender, packet.message), {})[packet.place] = packet.payload
        return [self._explain(data, packet, sender) for data, packet, sender in opened]

    def _open(self, sent: SentDatagram) -> tuple[bytes, Packet | None, NodeId]:
        frame = self._opener.open(sent.data)
        if isinstance(frame, Refusal):
            return sent.data, None, -1
        try:
            return sent.data, read_packet(frame.body), frame.sender
        except FrameError:
            return sent.data, None, frame.sender

    def _explain(self, data: bytes, packet: Packet | None, sender: NodeId) -> Carried:
        match packet:
            case Broadcast(payload):
                return self._carried(payload, data, None, None)
            case Unicast(to, number, payload):
                return self._carried(payload, data, (sender, to, number & NUMBER_MASK), to)
            case UnicastPiece(to, _, message, _, _, _):
                whole = _join(self._pieces[sender, message])
                return self._carried(whole, data, (sender, to, message, 0), to)
            case Piece(message, _, _, _):
                return self._carried(_join(self._pieces[sender, message]), data, (sender, message), None)
            case Acks() | Repair():
                kind = ACKNOWLEDGEMENT if isinstance(packet, Acks) else REPAIR
                return Carried(kind, CONTROL, -1, len(data), False, None, packet.to)
            case _:
                return Carried(UNREADABLE, CONTROL, -1, len(data), False, None, None)

    def _carried(
        self, payload: bytes, data: bytes, transfer: tuple[int, ...] | None, to: int | None
    ) -> Carried:
        if payload[0] != Port.ROUTER:
            kind = LINK_KINDS.get(Port(payload[0]), UNREADABLE) if payload[0] in set(Port) else UNREADABLE
            return Carried(kind, CONTROL, -1, len(data), False, transfer, to)
        found = self._payloads.get(payload)
        if found is None:
            found = self._payloads[payload] = self._decode(payload[1:])
        return Carried(*found, len(payload) - 1, True, transfer, to)

    def _decode(self, payload: bytes) -> tuple[str, str, int]:
        try:
            message = self._codec.decode(payload)
        except WireError:  # a fragmented message of which a part was never sent
            kind = self._codec.kinds.get(payload[0]) if payload else None
            return UNREADABLE if kind is None else kind.__name__, CONTROL, -1
        return type(unwrap(message)).__name__, message.category.name.lower(), message.publication_id


def _join(pieces: Mapping[int, bytes]) -> bytes:
    return b"".join(pieces[place] for place in sorted(pieces))
