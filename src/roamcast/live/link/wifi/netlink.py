"""Netlink messages: requests in bytes, and strict reading of answers."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

HEADER = Struct("=IHHII")
"Length, type, flags, sequence number and port of a message, in the order of the machine."
_ATTRIBUTE = Struct("=HH")
REQUEST = 1
DUMP = 0x300
NO_OPERATION, ERROR, DONE = 1, 2, 3
_CODE = Struct("=i")
_TYPE_MASK = 0x3FFF
"The two highest bits of an attribute's type are flags."


class NetlinkError(Exception):
    """Bytes that are no netlink messages, or an error that the kernel answered."""


class NetlinkMessage(NamedTuple):
    """One message of an answer."""

    type: int
    sequence: int
    body: bytes


def _aligned(size: int) -> int:
    return size + 3 & ~3


def write_message(type: int, flags: int, sequence: int, body: bytes) -> bytes:
    """Return a message in bytes."""
    padding = bytes(_aligned(len(body)) - len(body))
    return HEADER.pack(HEADER.size + len(body), type, flags, sequence, 0) + body + padding


def write_attribute(type: int, value: bytes) -> bytes:
    """Return an attribute in bytes."""
    head = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), type)
    return head + value + bytes(_aligned(len(value)) - len(value))


def read_messages(data: bytes) -> Iterator[NetlinkMessage]:
    """Yield the messages of a datagram; raise `NetlinkError` where they are cut short."""
    at = 0
    while at < len(data):
        if len(data) - at < HEADER.size:
            raise NetlinkError(f"{len(data) - at} bytes follow the last message; a header has {HEADER.size}")
        size, type, _, sequence, _ = HEADER.unpack_from(data, at)
        if not HEADER.size <= size <= len(data) - at:
            raise NetlinkError(f"a message of {size} bytes, where {len(data) - at} are left")
        yield NetlinkMessage(type, sequence, data[at + HEADER.size : at + size])
        at += _aligned(size)


def read_attributes(data: bytes, at: int = 0) -> dict[int, bytes]:
    """Return the attributes from an index on; raise `NetlinkError` where one is cut short or repeated."""
    found: dict[int, bytes] = {}
    while at < len(data):
        if len(data) - at < _ATTRIBUTE.size:
            raise NetlinkError(f"{len(data) - at} bytes follow the last attribute")
        size, type = _ATTRIBUTE.unpack_from(data, at)
        if not _ATTRIBUTE.size <= size <= len(data) - at:
            raise NetlinkError(f"an attribute of {size} bytes, where {len(data) - at} are left")
        type &= _TYPE_MASK
        if type in found:
            raise NetlinkError(f"attribute {type} is given twice")
        found[type] = data[at + _ATTRIBUTE.size : at + size]
        at += _aligned(size)
    return found


def read_error(message: NetlinkMessage) -> int:
    """Return the number of the system's error in a message ERROR or DONE, 0 if it tells of success."""
    if len(message.body) < _CODE.size:
        if message.type == DONE and not message.body:
            return 0
        raise NetlinkError("an error without a number")
    (code,) = _CODE.unpack_from(message.body)
    if code > 0:
        raise NetlinkError(f"an error has the number {code}; it must not be positive")
    return -int(code)
