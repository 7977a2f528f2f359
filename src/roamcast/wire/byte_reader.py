"""A sequential reader of a message's bytes; missing or additional bytes raise `WireError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from roamcast.content.schema import EventType
from roamcast.wire.errors import WireError

if TYPE_CHECKING:
    from roamcast.wire.message import Message


class ByteReader:
    """The bytes of one message, with the message kinds and event types that the node knows."""

    __slots__ = ("at", "data", "kinds", "types")

    def __init__(
        self, data: bytes, kinds: Mapping[int, type[Message]], types: Mapping[str, EventType]
    ) -> None:
        self.data = data
        self.at = 0
        self.kinds = kinds
        self.types = types

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise WireError(
                f"the message ends after {len(self.data)} bytes, {self.at - len(self.data)} too early"
            )
        return self.data[start : self.at]

    def integer(self, count: int) -> int:
        """Return an unsigned integer of `count` bytes, big-endian."""
        return int.from_bytes(self.take(count), "big")

    def close(self, padding: int) -> None:
        """Raise `WireError` unless exactly `padding` zero bytes remain."""
        if self.data[self.at :] != bytes(padding):
            raise WireError(f"the message does not end with {padding} bytes of padding")
