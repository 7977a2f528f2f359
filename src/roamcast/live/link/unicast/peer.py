"""A neighbour as the link sees it: its address, what waits for it, what it has not acknowledged yet."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Any

from roamcast.live.link.datagrams import Address
from roamcast.live.link.fragments import cut
from roamcast.live.link.packets import MOST_BODY, UNICAST_HEADER, write_part
from roamcast.live.security.replay import ReplayWindow
from roamcast.wire.field import NodeId

FIRST_TIMEOUT = 0.03
"Seconds until the first retry to a neighbour whose round trip was not measured yet."
LEAST_TIMEOUT = 0.02
"Longer than a neighbour holds an acknowledgement back (`ACK_HOLD`)."
MOST_TIMEOUT = 0.025
"Seconds between retries at most, if the measured round trip is not longer."
SLOWEST_TIMEOUT = 0.5
"Seconds between retries at most; longer round trips are not waited for, so that a lost neighbour is noticed."
BACKOFF = 1.5
CONGESTED_BACKOFF = 2.0
"As `BACKOFF`, to a neighbour that is heard and does not acknowledge."


TRANSFER_BYTES = 256
"Bytes counted for each payload besides the payload."
SESSION_BITS = 40
"A packet number has 16 bits for the start of its sender, then as many bits that count."
_SESSIONS = 1 << 16


def first_number(start: int) -> int:
    """Return the packet number before the first one of a link that was started `start` times before."""
    return start % _SESSIONS << SESSION_BITS


class PacketWindow:
    """The packet numbers received from one neighbour since it started."""

    __slots__ = ("_session", "_window")

    def __init__(self) -> None:
        self._session = -1
        self._window = ReplayWindow()

    def accept(self, number: int) -> bool:
        """Note a number; return whether it is new."""
        session = number >> SESSION_BITS
        if session != self._session:
            if self._session >= 0 and (session - self._session) % _SESSIONS >= _SESSIONS // 2:
                return False  # of an earlier start
            self._session, self._window = session, ReplayWindow()
        return self._window.accept(number & (1 << SESSION_BITS) - 1)


class RoundTrip:
    """The measured round trip to a neighbour, smoothed as RFC 6298 has it."""

    __slots__ = ("_deviation", "mean")

    def __init__(self) -> None:
        self.mean: float | None = None
        self._deviation = 0.0

    def measure(self, seconds: float) -> None:
        """Take the time from a transmission to its acknowledgement."""
        if self.mean is None:
            self.mean, self._deviation = seconds, seconds / 2
        else:
            self._deviation += (abs(self.mean - seconds) - self._deviation) / 4
            self.mean += (seconds - self.mean) / 8

    def timeout(self, attempt: int, alive: bool = False) -> float:
        """Return the seconds to wait for an acknowledgement after the `attempt`-th transmission, from 1.

        `alive`: the neighbour was heard after the first transmission, so the medium is congested or loses
        frames, and the neighbour is not gone.
        """
        base = max(FIRST_TIMEOUT if self.mean is None else self.mean + 4 * self._deviation, LEAST_TIMEOUT)
        if alive:
            return min(base * CONGESTED_BACKOFF ** (attempt - 1), SLOWEST_TIMEOUT)
        return min(base * BACKOFF ** (attempt - 1), max(base, MOST_TIMEOUT), SLOWEST_TIMEOUT)


class Backlog:
    """The bytes of all payloads of a link that were neither acknowledged nor given up."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class Transfer:
    """A payload on its way to one neighbour."""

    __slots__ = ("ended", "left", "payload", "token", "urgent")

    def __init__(self, payload: bytes, token: Any, urgent: bool) -> None:
        self.payload = payload
        self.token = token
        self.urgent = urgent
        self.left = 0
        "Packets not acknowledged yet."
        self.ended = False


class Pending:
    """A packet that was not acknowledged yet."""

    __slots__ = ("due", "number", "sent", "tail", "transfer", "whole")

    def __init__(self, transfer: Transfer, number: int, tail: bytes, whole: bool) -> None:
        """`tail`: what follows the number, which is a whole payload or a part (`write_part`)."""
        self.transfer = transfer
        self.number = number
        self.tail = tail
        self.whole = whole
        self.sent: list[float] = []
        "When it was transmitted [s]."
        self.due = 0.0

    @property
    def attempts(self) -> int:
        """How often it was transmitted."""
        return len(self.sent)


class Peer:
    """One neighbour."""

    def __init__(self, node: NodeId, latest: int, backlog: Backlog) -> None:
        """`latest`: the number before that of the first packet to it; `backlog` counts what waits, too."""
        self.node = node
        self._backlog = backlog
        self.bearer = -1
        self.address: Address | None = None
        "Where it was last heard; None: nowhere yet, and it is reached by broadcast."
        self.heard = 0.0
        self.acknowledged = -inf
        "When it last acknowledged something."
        self.epoch = -1
        self.received = PacketWindow()
        "Numbers of its packets that were received in this epoch."
        self.round_trip = RoundTrip()
        self.urgent: deque[Transfer] = deque()
        self.waiting: deque[Transfer] = deque()
        self.bytes = 0
        "Of payloads that wait."
        self.ready: deque[Pending] = deque()
        "Packets of begun transfers that were not sent yet."
        self.inflight: dict[int, Pending] = {}
        self.failures = 0
        self.lost = False
        "Whether the link gave up on it since it was last heard."
        self.latest = latest
        "The number of the latest packet to it."
        self._messages = latest & 0xFFFFFFFF

    def enqueue(self, transfer: Transfer) -> None:
        """Let a payload wait for its turn; urgent ones go before the others."""
        (self.urgent if transfer.urgent else self.waiting).append(transfer)
        self.bytes += len(transfer.payload)
        self._backlog.bytes += len(transfer.payload) + TRANSFER_BYTES

    def finish(self, transfer: Transfer) -> None:
        """Note that a payload was acknowledged, withdrawn or given up."""
        self._backlog.bytes -= len(transfer.payload) + TRANSFER_BYTES

    def take_back(self) -> list[Transfer]:
        """Return all payloads of which nothing was sent yet, in order, and forget them."""
        found = [*self.urgent, *self.waiting]
        self.urgent.clear()
        self.waiting.clear()
        self.bytes = 0
        for transfer in found:
            self.finish(transfer)
        return found

    def next_packet(self) -> Pending:
        """Return the next packet to send; there is one if anything is ready or waits."""
        if not self.ready:
            transfer = (self.urgent or self.waiting).popleft()
            payload = transfer.payload
            self.bytes -= len(payload)
            if len(payload) + UNICAST_HEADER <= MOST_BODY:
                transfer.left = 1
                return Pending(transfer, self._number(), payload, True)
            self._cut(transfer)
        return self.ready.popleft()

    def _cut(self, transfer: Transfer) -> None:
        pieces = cut(transfer.payload)
        transfer.left = len(pieces)
        self._messages = self._messages + 1 & 0xFFFFFFFF
        for index, piece in enumerate(pieces):
            part = write_part(self._messages, index, len(pieces), piece)
            self.ready.append(Pending(transfer, self._number(), part, False))

    def _number(self) -> int:
        self.latest += 1
        return self.latest

    def suspect_at(self, now: float) -> bool:
        """Return whether the oldest packet is overdue, and nothing was acknowledged since it was first sent.

        Only that packet is then repeated: on a radio, each copy to a neighbour that is gone costs all retries
        of the MAC, and everything behind it waits.
        """
        oldest = next(iter(self.inflight.values()), None)
        if oldest is None or self.acknowledged >= oldest.sent[0]:
            return False
        return oldest.attempts > 1 or oldest.due <= now

    def abandon(self, transfer: Transfer) -> None:
        """Forget all packets of a transfer."""
        transfer.ended = True
        self.finish(transfer)
        self.ready = deque(each for each in self.ready if each.transfer is not transfer)
        self.inflight = {n: each for n, each in self.inflight.items() if each.transfer is not transfer}
