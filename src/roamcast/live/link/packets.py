"""Packets: the bodies of frames, from one link to another.

A payload is what the link carries: one byte for its port, then bytes that mean something to that port.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from struct import Struct
from typing import NamedTuple, TypeAlias

from roamcast.live.errors import FrameError
from roamcast.live.security.frame import OVERHEAD
from roamcast.wire.field import NodeId

MOST_DATAGRAM = 1232
"Bytes of a datagram: what IPv6 carries everywhere without its own fragmentation."
MOST_BODY = MOST_DATAGRAM - OVERHEAD

_BROADCAST, _UNICAST, _ACKS, _PIECE, _UNICAST_PIECE, _REPAIR, _UNICAST_ACKS = range(1, 8)
_TO_NUMBER = Struct(">BIQ")
_TO = Struct(">BI")
_NUMBER = Struct(">Q")
_PART = Struct(">IBB")
_REPAIR_OF = Struct(">BII")

ATTEMPT_SHIFT = 56
"The highest byte of a unicast packet's number counts its transmissions, and the acknowledgement repeats it."
NUMBER_MASK = (1 << ATTEMPT_SHIFT) - 1

PIECE_BYTES = MOST_BODY - _TO_NUMBER.size - _PART.size
"Bytes of a payload in one fragment."
MOST_PIECES = 255
MOST_PAYLOAD = min(PIECE_BYTES * MOST_PIECES, 1 + 65_507)
MOST_ACKS = (MOST_BODY - _TO.size) // _NUMBER.size


class Port(IntEnum):
    """Which part of a node a payload is for."""

    ROUTER = 0
    HELLO = 1
    TYPE_QUERY = 2
    TYPE = 3
    SIGNED = 4
    "A proof, then a message for the router that carries a signed publication."


PORTS = {int(port): port for port in Port}
BROADCASTS = [bytes((_BROADCAST, port)) for port in Port]
"First bytes of a broadcast packet by port."
ROUTER_BROADCAST = BROADCASTS[Port.ROUTER]
UNICAST = bytes((_UNICAST,))
"First byte of a unicast packet without acknowledgements."
UNICAST_HEADER = _TO_NUMBER.size
"Bytes of a unicast packet before its payload."


class Broadcast(NamedTuple):
    """A payload for everyone in range."""

    payload: bytes


class Unicast(NamedTuple):
    """A payload for one neighbour, which acknowledges its number."""

    to: NodeId
    number: int
    payload: bytes
    acks: tuple[int, ...] = ()
    "Numbers that the sender has received from that neighbour."


class Acks(NamedTuple):
    """Numbers that were received from a neighbour."""

    to: NodeId
    numbers: tuple[int, ...]


class Piece(NamedTuple):
    """A fragment of a payload for everyone."""

    message: int
    place: int
    pieces: int
    payload: bytes


class UnicastPiece(NamedTuple):
    """A fragment of a payload for one neighbour, which acknowledges its number."""

    to: NodeId
    number: int
    message: int
    place: int
    pieces: int
    payload: bytes


class Repair(NamedTuple):
    """The fragments of a broadcast payload that a node misses."""

    to: NodeId
    message: int
    missing: tuple[int, ...]


Packet: TypeAlias = Broadcast | Unicast | Acks | Piece | UnicastPiece | Repair


def write_packet(packet: Packet) -> bytes:
    """Return the packet in bytes."""
    match packet:
        case Broadcast(payload):
            return bytes((_BROADCAST,)) + payload
        case Unicast(to, number, payload, acks):
            return write_unicast(to, number, payload, acks)
        case Acks(to, numbers):
            return _TO.pack(_ACKS, to) + b"".join(map(_NUMBER.pack, numbers))
        case Piece(message, index, count, payload):
            return bytes((_PIECE,)) + _PART.pack(message, index, count) + payload
        case UnicastPiece(to, number, message, index, count, payload):
            return write_unicast_piece(to, number, write_part(message, index, count, payload))
        case Repair(to, message, missing):
            return _REPAIR_OF.pack(_REPAIR, to, message) + bytes(missing)


def write_unicast(to: NodeId, number: int, payload: bytes, acks: Sequence[int] | None = None) -> bytes:
    """Return a unicast packet in bytes, with acknowledgements of packets from its addressee."""
    if not acks:
        return _TO_NUMBER.pack(_UNICAST, to, number) + payload
    numbers = b"".join(map(_NUMBER.pack, acks))
    return _TO_NUMBER.pack(_UNICAST_ACKS, to, number) + bytes((len(acks),)) + numbers + payload


def write_part(message: int, index: int, count: int, payload: bytes) -> bytes:
    """Return a fragment as it follows the number of its packet."""
    return _PART.pack(message, index, count) + payload


def write_unicast_piece(to: NodeId, number: int, part: bytes) -> bytes:
    """Return a packet in bytes with a fragment for one neighbour, which `write_part` returned."""
    return _TO_NUMBER.pack(_UNICAST_PIECE, to, number) + part


def room_for_acks(payload: bytes) -> int:
    """Return how many acknowledgements a unicast packet with this payload can carry."""
    return min((MOST_BODY - UNICAST_HEADER - len(payload) - 1) // _NUMBER.size, 255)


def read_packet(body: bytes) -> Packet:
    """Return the packet that `write_packet` wrote; anything else is a `FrameError`."""
    if not body:
        raise FrameError("an empty packet")
    reader = _READERS.get(body[0])
    if reader is None:
        raise FrameError(f"a packet of kind {body[0]}")
    return reader(body)


def read_unicast(body: bytes) -> tuple[NodeId, int]:
    """Return the addressee and the number of a unicast packet."""
    _, to, number = _TO_NUMBER.unpack_from(body)
    return to, number


def _need(body: bytes, count: int) -> None:
    if len(body) < count:
        raise FrameError(f"a packet of {len(body)} bytes; {count} are the least")


def _read_broadcast(body: bytes) -> Broadcast:
    _need(body, 2)
    return Broadcast(body[1:])


def _read_unicast(body: bytes) -> Unicast:
    _need(body, _TO_NUMBER.size + 1)
    _, to, number = _TO_NUMBER.unpack_from(body)
    return Unicast(to, number, body[_TO_NUMBER.size :])


def _read_unicast_acks(body: bytes) -> Unicast:
    _need(body, UNICAST_HEADER + 1)
    _, to, number = _TO_NUMBER.unpack_from(body)
    start = UNICAST_HEADER + 1
    end = start + _NUMBER.size * body[UNICAST_HEADER]
    _need(body, end + 1)
    if end == start or len(body) > MOST_BODY:
        raise FrameError("a unicast packet with no acknowledgements, or too long")
    acks = tuple(number for (number,) in _NUMBER.iter_unpack(body[start:end]))
    return Unicast(to, number, body[end:], acks)


def _read_acks(body: bytes) -> Acks:
    _need(body, _TO.size + _NUMBER.size)
    _, to = _TO.unpack_from(body)
    if (len(body) - _TO.size) % _NUMBER.size or len(body) > MOST_BODY:
        raise FrameError("acknowledgements cut short")
    return Acks(to, tuple(number for (number,) in _NUMBER.iter_unpack(body[_TO.size :])))


def _read_part(body: bytes, at: int) -> tuple[int, int, int, bytes]:
    _need(body, at + _PART.size + 1)
    message, index, count = _PART.unpack_from(body, at)
    payload = body[at + _PART.size :]
    last = index == count - 1
    if count < 2 or index >= count or len(payload) > PIECE_BYTES or (not last and len(payload) < PIECE_BYTES):
        raise FrameError(f"fragment {index} of {count} with {len(payload)} bytes")
    return message, index, count, payload


def _read_piece(body: bytes) -> Piece:
    return Piece(*_read_part(body, 1))


def _read_unicast_piece(body: bytes) -> UnicastPiece:
    _need(body, _TO_NUMBER.size)
    _, to, number = _TO_NUMBER.unpack_from(body)
    return UnicastPiece(to, number, *_read_part(body, _TO_NUMBER.size))


def _read_repair(body: bytes) -> Repair:
    _need(body, _REPAIR_OF.size + 1)
    _, to, message = _REPAIR_OF.unpack_from(body)
    missing = tuple(body[_REPAIR_OF.size :])
    if len(missing) > MOST_PIECES or list(missing) != sorted(set(missing)):
        raise FrameError("fragments asked for twice or out of order")
    return Repair(to, message, missing)


_READERS: dict[int, Callable[[bytes], Packet]] = {
    _BROADCAST: _read_broadcast,
    _UNICAST: _read_unicast,
    _ACKS: _read_acks,
    _PIECE: _read_piece,
    _UNICAST_PIECE: _read_unicast_piece,
    _REPAIR: _read_repair,
    _UNICAST_ACKS: _read_unicast_acks,
}
