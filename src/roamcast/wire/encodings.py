"""Caches that are bounded by the bytes of their entries, not by their number."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from roamcast.content.codec import encode_event
from roamcast.content.event import Event

K = TypeVar("K", bound=Hashable)

OVERHEAD = 500
"Bytes counted for each entry besides its encoding: the object, its key and their places in the dict."
MOST_BYTES = 4 << 20
"""Bytes that a cache of encodings may hold. A decoded event or filter takes several times its encoding, so it
is counted `FACTOR` times."""
FACTOR = 8


class Encodings(Generic[K]):
    """The encodings of recent objects; the oldest makes room."""

    def __init__(self, encode: Callable[[K], bytes], most_bytes: int = MOST_BYTES) -> None:
        self._encode = encode
        self._most = most_bytes
        self._found: dict[K, bytes] = {}
        self.bytes = 0
        self.get = self._found.get

    def __len__(self) -> int:
        return len(self._found)

    def __call__(self, key: K) -> bytes:
        """Return the encoding of an object."""
        data = self.get(key)
        if data is None:
            data = self._encode(key)
            self.remember(key, data)
        return data

    def remember(self, key: K, data: bytes) -> None:
        """Keep an encoding that is known, because the object was decoded from it."""
        if key in self._found:
            return
        self._found[key] = data
        self.bytes += OVERHEAD + FACTOR * len(data)
        while self.bytes > self._most:
            oldest = next(iter(self._found))
            self.bytes -= OVERHEAD + FACTOR * len(self._found.pop(oldest))


encoded_event: Encodings[Event] = Encodings(encode_event)
"The encoding of an event. The same few events are published repeatedly, and each message is measured."
