"""Numbers of a node's publications, which no restart repeats: blocks of them are reserved on disk."""

from __future__ import annotations

from pathlib import Path

from roamcast.live.errors import LiveError
from roamcast.live.security.counters import replace_file

BLOCK = 1 << 12
"Numbers reserved at a time: one write to disk for so many events, and at most so many skipped by a restart."
NUMBERS = (1 << 32) - 2
"Numbers from 1 to this one are used in a circle; routers reserve 0 and the highest number of 32 bits."
MOST = 1 << 63


class PublicationNumbers:
    """The sequence numbers of one publisher; after the highest comes 1 again."""

    def __init__(self, path: Path | None = None, start: int = 0, block: int | None = None) -> None:
        """Go on after the numbers that `path` has reserved, or after `start` if there is no file."""
        self._path = path
        self._block = BLOCK if block is None else block
        self._next = start if path is None or not path.exists() else _read(path)
        self._end = self._next

    def take(self) -> int:
        """Return the next number; reserve another block first if the last is used up."""
        if self._next >= self._end:
            self._end += self._block
            if self._path is not None:
                replace_file(self._path, str(self._end).encode())
        self._next += 1
        return (self._next - 1) % NUMBERS + 1


def _read(path: Path) -> int:
    text = path.read_bytes()[:40]
    if not text.isdigit() or int(text) >= MOST:
        raise LiveError(f"{path}: not a count of publications; remove the state folder")
    return int(text)
