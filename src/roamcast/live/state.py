"""The state folder of a node: identity, frame counters, incarnation, senders heard; all survive a crash."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

import msgspec

from roamcast.live.errors import LiveError
from roamcast.live.security.counters import FrameCounters, FrameNumber, replace_file
from roamcast.live.security.identity import Identity
from roamcast.live.security.publication_numbers import PublicationNumbers
from roamcast.wire.field import NodeId


class NodeState:
    """What a node keeps on disk; without a folder, an identity of its own and nothing else."""

    def __init__(self, folder: Path | None) -> None:
        """Lock the folder, which is made if there is none, and count one more incarnation."""
        self.folder = folder
        self._lock: IO[str] | None = None
        self.incarnation = 0
        "How often the node has started before."
        if folder is None:
            self.identity, self.counters = Identity.generate(), FrameCounters()
            self.numbers = PublicationNumbers()
            return
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = (folder / "lock").open("w")
        except OSError as error:
            raise LiveError(f"{folder}: cannot keep the state of a node: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise LiveError(f"{folder}: in use by another node") from None
        try:
            self.identity = Identity.load(folder / "identity")
            self.counters = FrameCounters(folder / "counters")
            self.incarnation = self._count_incarnation(folder / "incarnation")
            # Before there was a file, numbers had the incarnation in their highest byte.
            self.numbers = PublicationNumbers(folder / "publications", self.incarnation << 24)
        except BaseException:
            self.close()
            raise

    def _count_incarnation(self, path: Path) -> int:
        try:
            incarnation = int(path.read_text()) + 1 if path.exists() else 0
        except ValueError:
            raise LiveError(f"{path}: not a count of starts; remove the state folder") from None
        replace_file(path, str(incarnation).encode())
        return incarnation

    def read_floors(self) -> dict[NodeId, FrameNumber]:
        """Return the highest frame number accepted of each sender, as last saved."""
        if self.folder is None or not (self.folder / "senders").exists():
            return {}
        try:
            rows = msgspec.json.decode(
                (self.folder / "senders").read_bytes(), type=list[tuple[NodeId, int, int]]
            )
        except msgspec.MsgspecError:
            return {}  # it only makes replays after a restart harder
        return {node: FrameNumber(epoch, counter) for node, epoch, counter in rows}

    def save_floors(self, floors: dict[NodeId, FrameNumber]) -> None:
        """Save the highest frame number accepted of each sender."""
        if self.folder is not None:
            rows = [(node, number.epoch, number.counter) for node, number in floors.items()]
            replace_file(self.folder / "senders", msgspec.json.encode(rows))

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
