"""Caches that are bounded by the bytes of their entries, not by their number."""

from __future__ import annotations

from collections import deque
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
        self._decoded: dict[int, tuple[K, bytes]] = {}
        "Decoded objects by their address, which is faster than their hash; as they are kept, none is reused."
        self._order: deque[int] = deque()
        self.bytes = 0
        self._decoded_bytes = 0

    def __len__(self) -> int:
        return len(self._found) + len(self._decoded)

    def __call__(self, key: K) -> bytes:
        """Return the encoding of an object."""
        held = self._decoded.get(id(key))
        if held is not None:
            return held[1]
        data = self._found.get(key)
        if data is None:
            data = self._found[key] = self._encode(key)
            self.bytes += OVERHEAD + FACTOR * len(data)
            while self.bytes > self._most:
                oldest = next(iter(self._found))
                self.bytes -= OVERHEAD + FACTOR * len(self._found.pop(oldest))
        return data

    def remember(self, key: K, data: bytes) -> None:
        """Keep the encoding that an object was decoded from."""
        self._decoded[id(key)] = (key, data)
        self._order.append(id(key))  # the first key of a dict is slow to find after many deletions
        self._decoded_bytes += OVERHEAD + FACTOR * len(data)
        while self._decoded_bytes > self._most:
            _, oldest = self._decoded.pop(self._order.popleft())
            self._decoded_bytes -= OVERHEAD + FACTOR * len(oldest)


encoded_event: Encodings[Event] = Encodings(encode_event)
"The encoding of an event. The same few events are published repeatedly, and each message is measured."
