"""Frame counters that no restart repeats: blocks of them are reserved on disk before they are used."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from roamcast.live.errors import LiveError

BLOCK = 1 << 20
"Counters reserved at a time: one write to disk for so many frames."
MOST = 1 << 64


class FrameNumber(NamedTuple):
    """The number of a frame, which its sender uses once."""

    epoch: int
    counter: int


class _Reserved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    epoch: int
    counter: int
    "Counters below this one may have been used."


def new_epoch(now: Callable[[], float] = time.time) -> int:
    """Return an epoch that follows all earlier ones: seconds since 1970 above 32 random bits."""
    return (int(now()) & 0xFFFFFFFF) << 32 | int.from_bytes(os.urandom(4), "big")


class FrameCounters:
    """The frame numbers of one node."""

    def __init__(self, path: Path | None = None, block: int | None = None) -> None:
        """Go on after the numbers that `path` has reserved; without a path, begin a new epoch."""
        self._path = path
        self._block = block = BLOCK if block is None else block
        found = _read(path) if path is not None and path.exists() else None
        self.epoch = new_epoch() if found is None else found.epoch
        self._next = 0 if found is None else found.counter
        self._end = self._next
        if self._next + block >= MOST:
            self._begin_epoch()

    @property
    def upcoming(self) -> int:
        """The counter of the next frame, unless a new epoch begins."""
        return self._next

    def take(self) -> int:
        """Return the next counter of `epoch`; reserve another block first where the last is used up.

        A new epoch begins after the last counter.
        """
        counter = self._next
        if counter >= self._end:
            self._reserve()
            counter = self._next
        self._next = counter + 1
        return counter

    def _reserve(self) -> None:
        if self._end + self._block >= MOST:
            self._begin_epoch()
        self._end += self._block
        if self._path is not None:
            replace_file(self._path, msgspec.json.encode(_Reserved(self.epoch, self._end)))

    def _begin_epoch(self) -> None:
        self.epoch = max(new_epoch(), self.epoch + 1)
        self._next = self._end = 0


def _read(path: Path) -> _Reserved:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Reserved)
    except (OSError, msgspec.MsgspecError) as error:
        raise LiveError(
            f"{path}: not the frame counters of a node ({error}); remove the state folder"
        ) from None
    if not (0 <= found.epoch < MOST and 0 <= found.counter < MOST):
        raise LiveError(f"{path}: frame counters out of bounds; remove the state folder")
    return found


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that after a crash it has the old content or the new."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
