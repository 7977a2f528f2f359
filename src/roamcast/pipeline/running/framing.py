"""Messages over a pipe: four bytes of length, then the content."""

from __future__ import annotations

import os


class PipeClosed(Exception):
    """The other end of the pipe is closed."""


def send(end: int, message: bytes) -> None:
    """Write a message."""
    left = len(message).to_bytes(4, "big") + message
    while left:
        left = left[os.write(end, left) :]


def receive(end: int) -> bytes:
    """Read and return a message; raise `PipeClosed` if the pipe ends before or within it."""
    return _exactly(end, int.from_bytes(_exactly(end, 4), "big"))


def split(read: bytes) -> tuple[list[bytes], bytes]:
    """Return the complete messages in `read`, and the remaining bytes."""
    messages = []
    while len(read) >= 4 and len(read) >= (end := 4 + int.from_bytes(read[:4], "big")):
        messages.append(read[4:end])
        read = read[end:]
    return messages, read


def _exactly(end: int, count: int) -> bytes:
    read = b""
    while len(read) < count:
        more = os.read(end, min(count - len(read), 1 << 20))
        if not more:
            raise PipeClosed
        read += more
    return read
