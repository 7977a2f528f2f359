"""Fragments: payloads too long for a frame, cut and put together again within bounds of bytes and time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from roamcast.live.link.packets import PIECE_BYTES
from roamcast.wire.field import NodeId

LIFETIME = 2.0
"Seconds after which an incomplete payload, or one kept for repairs, is given up."
MOST_BYTES = 1 << 20
"Bytes that incomplete payloads hold together; the oldest makes room."
MOST_OF_SENDER = MOST_BYTES // 4
KEPT_BYTES = 1 << 18
"Bytes of own broadcast payloads kept for repairs; the oldest makes room."
FINISHED = 256
"Completed payloads remembered, so that late fragments do not begin them again."
_OVERHEAD = 1024
"Bytes counted for each incomplete payload besides its fragments."


def cut(payload: bytes) -> list[bytes]:
    """Return the payload in fragments."""
    return [payload[at : at + PIECE_BYTES] for at in range(0, len(payload), PIECE_BYTES)]


class Assembly:
    """One incomplete payload."""

    __slots__ = ("began", "bytes", "count", "pieces", "progress", "requests")

    def __init__(self, count: int, now: float) -> None:
        self.count = count
        self.began = self.progress = now
        self.pieces: dict[int, bytes] = {}
        self.bytes = _OVERHEAD
        self.requests = 0
        "How often missing fragments were asked for since the last one came."

    def missing(self) -> tuple[int, ...]:
        """Return the indices of the fragments that have not come."""
        return tuple(index for index in range(self.count) if index not in self.pieces)


class Reassembly:
    """Incomplete payloads of all senders."""

    def __init__(self, now: Callable[[], float], most_bytes: int = MOST_BYTES) -> None:
        self._now = now
        self._most = most_bytes
        self._most_of_sender = most_bytes // 4
        self.open: OrderedDict[tuple[NodeId, int], Assembly] = OrderedDict()
        self._finished: OrderedDict[tuple[NodeId, int], None] = OrderedDict()
        self.bytes = 0
        self._of_sender: dict[NodeId, int] = {}
        self.given_up = 0

    def add(self, sender: NodeId, message: int, index: int, count: int, piece: bytes) -> bytes | None:
        """Take a fragment; return the payload if it is complete now."""
        self.expire()
        key = (sender, message)
        if key in self._finished:
            return None
        found = self.open.get(key)
        if found is None:
            found = self.open[key] = Assembly(count, self._now())
            self._account(sender, _OVERHEAD)
        if found.count != count or index in found.pieces:
            return None
        found.pieces[index] = piece
        found.bytes += len(piece)
        found.progress, found.requests = self._now(), 0
        self._account(sender, len(piece))
        if len(found.pieces) == count:
            self._close(key)
            self._finished[key] = None
            if len(self._finished) > FINISHED:
                self._finished.popitem(last=False)
            return b"".join(found.pieces[place] for place in range(count))
        self._make_room(sender)
        return None

    def expire(self) -> None:
        """Give up what is older than its lifetime."""
        oldest = self._now() - LIFETIME
        while self.open and next(iter(self.open.values())).began < oldest:
            self._give_up(next(iter(self.open)))

    def _make_room(self, sender: NodeId) -> None:
        while self._of_sender.get(sender, 0) > self._most_of_sender:
            self._give_up(next(key for key in self.open if key[0] == sender))
        while self.bytes > self._most:
            self._give_up(next(iter(self.open)))

    def _give_up(self, key: tuple[NodeId, int]) -> None:
        self.given_up += 1
        self._close(key)

    def _close(self, key: tuple[NodeId, int]) -> None:
        self._account(key[0], -self.open.pop(key).bytes)

    def _account(self, sender: NodeId, count: int) -> None:
        self.bytes += count
        left = self._of_sender.get(sender, 0) + count
        if left:
            self._of_sender[sender] = left
        else:
            self._of_sender.pop(sender, None)


class RepairStore:
    """Own broadcast payloads of the last seconds, by number, for neighbours that miss fragments."""

    def __init__(self, now: Callable[[], float], most_bytes: int = KEPT_BYTES) -> None:
        self._now = now
        self._most = most_bytes
        self._kept: OrderedDict[int, tuple[float, list[bytes]]] = OrderedDict()
        self.bytes = 0

    def keep(self, message: int, pieces: list[bytes]) -> None:
        """Keep the fragments of a payload for a while."""
        self._kept[message] = (self._now(), pieces)
        self.bytes += sum(map(len, pieces))
        oldest = self._now() - LIFETIME
        while self._kept:
            first, (time, held) = next(iter(self._kept.items()))
            if time >= oldest and self.bytes <= self._most:
                break
            del self._kept[first]
            self.bytes -= sum(map(len, held))

    def pieces(self, message: int) -> list[bytes]:
        """Return the fragments of a payload, none if it is not kept."""
        found = self._kept.get(message)
        return [] if found is None else found[1]
