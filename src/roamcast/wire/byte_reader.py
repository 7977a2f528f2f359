"""Bytes read from the front: whatever is missing or too much is a `WireError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from roamcast.content.schema import EventType
from roamcast.wire.errors import WireError

if TYPE_CHECKING:
    from roamcast.wire.message import Message


class ByteReader:
    """The bytes of one message on their way to being understood, and what is known here."""

    __slots__ = ("at", "data", "kinds", "types")

    def __init__(
        self, data: bytes, kinds: Mapping[int, type[Message]], types: Mapping[str, EventType]
    ) -> None:
        self.data = data
        self.at = 0
        self.kinds = kinds
        self.types = types

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise WireError(f"it ends after {len(self.data)} bytes, {self.at - len(self.data)} too early")
        return self.data[start : self.at]

    def integer(self, count: int) -> int:
        """A whole number of `count` bytes, the highest first."""
        return int.from_bytes(self.take(count), "big")

    def close(self, padding: int) -> None:
        """Make sure that nothing follows but so many bytes of padding."""
        if self.data[self.at :] != bytes(padding):
            raise WireError(f"it does not end with {padding} bytes of padding")
