"""Transfers: payloads for one neighbour, in numbered packets that it acknowledges and that are repeated."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from math import inf
from typing import Any

from roamcast.live.link.clock import clock_of
from roamcast.live.link.outbox import Outbox
from roamcast.live.link.packets import (
    ATTEMPT_SHIFT,
    MOST_ACKS,
    NUMBER_MASK,
    Acks,
    room_for_acks,
    write_packet,
    write_unicast,
    write_unicast_piece,
)
from roamcast.live.link.unicast.acks import HeldAcks
from roamcast.live.link.unicast.deadline import Deadline
from roamcast.live.link.unicast.peer import Peer, Pending, Transfer
from roamcast.live.link.unicast.peer_table import PeerTable
from roamcast.live.link.user import LinkUser
from roamcast.wire.field import NodeId

WINDOW = 8
"Packets to one neighbour that may be unacknowledged at a time."
ATTEMPTS = 6
"Transmissions of a packet before the link gives up on a neighbour that acknowledges nothing."
ALIVE = 0.1
"Seconds for which a neighbour counts as reachable after an acknowledgement: it gets three times as many."
MOST_WAITING = 512
"Payloads that wait for one neighbour."
MOST_WAITING_BYTES = 1 << 20
MOST_BACKLOG_BYTES = 8 << 20
"Bytes of payloads for all neighbours together that were neither acknowledged nor given up."
PROMPT_ACKS = WINDOW // 2
"As many acknowledgements for one neighbour do not wait: it might have to."


class Transfers:
    """The transfers of one node in both directions."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        peer_table: PeerTable,
        outbox: Outbox,
        *,
        user: LinkUser,
        counts: Counter[str],
        overflow: Callable[[Any, NodeId], None],
    ) -> None:
        """Set the collaborators; `overflow` gets the tokens of payloads dropped from a full queue."""
        self._time = clock_of(loop)
        self._peer_table = peer_table
        self._peers = peer_table.peers
        self._backlog = peer_table.backlog
        self._put = outbox.put
        self._user = user
        self._counts = counts
        self._overflow = overflow
        self._deadline = Deadline(loop, self._expire)
        self.acks = HeldAcks(self._deadline, self._send_acks, PROMPT_ACKS)
        self._active: dict[NodeId, Peer] = {}
        "PeerTable with packets that were not acknowledged when the deadline was asked for."

    def close(self) -> None:
        """Send no more."""
        self._deadline.close()
        self.acks.close()

    # Sending.

    def send(self, whole: bytes, to: NodeId, token: Any, urgent: bool) -> None:
        """Send a port and a payload to a neighbour until it is acknowledged."""
        self._counts["unicast"] += 1
        peer = self._peer_table.find(to)
        size = len(whole)
        if (
            len(peer.waiting) + len(peer.urgent) >= MOST_WAITING
            or peer.bytes + size > MOST_WAITING_BYTES
            or self._backlog.bytes + size > MOST_BACKLOG_BYTES
        ):
            self._overflow(token, to)
            return
        peer.enqueue(Transfer(whole, token, urgent))
        self._pump(peer)

    def withdraw(self, to: NodeId) -> list[Any]:
        """Return the tokens of payloads that wait for a neighbour and were not begun, and forget those."""
        peer = self._peers.get(to)
        return [] if peer is None else [transfer.token for transfer in peer.take_back()]

    def _pump(self, peer: Peer) -> None:
        """Send waiting payloads to a neighbour until its window is full."""
        inflight = peer.inflight
        while peer.ready or peer.urgent or peer.waiting:
            if len(inflight) >= WINDOW or peer.suspect_at(self._time()):
                return
            pending = peer.next_packet()
            inflight[pending.number] = pending
            self._transmit(peer, pending)

    def _transmit(self, peer: Peer, pending: Pending) -> None:
        now = self._time()
        sent = pending.sent
        sent.append(now)
        attempt = len(sent)
        pending.due = due = now + peer.round_trip.timeout(attempt, peer.heard > sent[0])
        if attempt > 1:
            self._counts["retried"] += 1
        number = pending.number | (attempt & 0xFF) << ATTEMPT_SHIFT
        if pending.whole:
            acks = self.acks.take(peer.node, room_for_acks(pending.tail))
            body = write_unicast(peer.node, number, pending.tail, acks)
        else:
            body = write_unicast_piece(peer.node, number, pending.tail)
        self._put(body, peer.bearer, peer.address, pending.transfer.urgent)
        self._active[peer.node] = peer
        if due < self._deadline.when:
            self._deadline.ask(due)

    def _expire(self, now: float) -> None:
        """Send the acknowledgements and repeat the packets that are due, and ask for the next deadline."""
        self.acks.flush(now)
        for peer in list(self._active.values()):
            due = _earliest(peer)
            if due <= now:
                self._retry(peer, now)
                due = _earliest(peer)
            if due == inf:
                self._active.pop(peer.node, None)
            else:
                self._deadline.ask(due)

    def _retry(self, peer: Peer, now: float) -> None:
        failed: list[Transfer] = []
        suspect = peer.suspect_at(now)
        for place, pending in enumerate(list(peer.inflight.values())):
            if pending.due > now or pending.transfer.ended:
                continue
            if suspect and place:
                pending.due = next(iter(peer.inflight.values())).due  # the first packet is the probe
                continue
            most = ATTEMPTS if now - peer.acknowledged > ALIVE else 3 * ATTEMPTS
            if pending.attempts < most:
                self._transmit(peer, pending)
                continue
            gone = list(peer.inflight.values()) if suspect else [pending]
            for each in gone:
                if not each.transfer.ended:
                    peer.abandon(each.transfer)
                    failed.append(each.transfer)
            if suspect:
                break
        peer.lost |= bool(failed)
        for transfer in failed:
            peer.failures += 1
            self._counts["failed"] += 1
            self._user.failed(transfer.token, peer.node)
        self._pump(peer)

    def _send_acks(self, node: NodeId, numbers: list[int]) -> None:
        peer = self._peers.get(node)
        for at in range(0, len(numbers) if peer is not None else 0, MOST_ACKS):
            assert peer is not None
            body = write_packet(Acks(node, tuple(numbers[at : at + MOST_ACKS])))
            self._put(body, peer.bearer, peer.address, True)

    # Receiving.

    def accept(self, peer: Peer, number: int) -> bool:
        """Acknowledge a packet for this node; return whether it was not received before."""
        new = peer.received.accept(number & NUMBER_MASK)
        if not new:
            self._counts["repeated"] += 1
        # A neighbour that repeats has waited long enough.
        self.acks.add(peer.node, number, not new or number >> ATTEMPT_SHIFT > 1, peer.heard)
        return new

    def settle(self, peer: Peer, numbers: tuple[int, ...]) -> None:
        """Note that a neighbour acknowledges packets."""
        now = peer.heard
        inflight = peer.inflight
        for number in numbers:
            pending = inflight.pop(number & NUMBER_MASK, None)
            if pending is None:
                continue
            attempt = number >> ATTEMPT_SHIFT
            if 0 < attempt <= len(pending.sent):
                peer.round_trip.measure(now - pending.sent[attempt - 1])
            transfer = pending.transfer
            transfer.left -= 1
            if not transfer.left:
                peer.finish(transfer)
            peer.acknowledged = now
        self._pump(peer)


def _earliest(peer: Peer) -> float:
    """Return when the first packet to a neighbour is due to be repeated [s]."""
    return min((pending.due for pending in peer.inflight.values()), default=inf)
