"""The link: payloads to everyone in range, and acknowledged payloads to one neighbour.

Frames and packets come and go here. `unicast` has payloads for one neighbour, `pieces` long payloads.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from functools import partial
from typing import Any

from roamcast.live.errors import FrameError
from roamcast.live.link.bearer import Bearer
from roamcast.live.link.clock import clock_of
from roamcast.live.link.datagrams import Address
from roamcast.live.link.fragments import Reassembly
from roamcast.live.link.outbox import Outbox
from roamcast.live.link.packets import (
    BROADCASTS,
    MOST_BODY,
    MOST_PAYLOAD,
    PORTS,
    ROUTER_BROADCAST,
    UNICAST,
    UNICAST_HEADER,
    Acks,
    Broadcast,
    Packet,
    Piece,
    Port,
    Repair,
    Unicast,
    UnicastPiece,
    read_packet,
    read_unicast,
)
from roamcast.live.link.pieces import Pieces
from roamcast.live.link.unicast.peer import Backlog, Peer, first_number
from roamcast.live.link.unicast.peer_table import PeerTable
from roamcast.live.link.unicast.transfers import Transfers
from roamcast.live.link.user import LinkUser
from roamcast.live.security.frame import Opener, Refusal, Sealer
from roamcast.wire.field import NodeId

_ROUTER = Port.ROUTER


class Link:
    """The link of one node over one or more bearers."""

    def __init__(
        self,
        sealer: Sealer,
        opener: Opener,
        bearers: list[Bearer],
        user: LinkUser,
        budget: float | None = None,
        *,
        start: int = 0,
    ) -> None:
        """`budget`: bytes a second that this node may send, None without limit.

        `start`: how often the node has started before in this epoch of its frames.
        """
        self._loop = loop = asyncio.get_running_loop()
        self._time = clock_of(loop)
        self._sealer = sealer
        self._node = sealer.sender
        self._opener = opener
        self._bearers = bearers
        self._user = user
        self.outbox = Outbox(loop, self._emit, budget)
        self._unlimited = budget is None
        self.counts: Counter[str] = Counter()
        "Frames and payloads by what became of them."
        self._peer_table = PeerTable(loop, user, first_number(start), self._overflow)
        self.peers: OrderedDict[NodeId, Peer] = self._peer_table.peers
        self._hear = self._peer_table.hear
        self._transfers = Transfers(
            loop,
            self._peer_table,
            self.outbox,
            user=user,
            counts=self.counts,
            overflow=self._overflow,
        )
        self._pieces = Pieces(loop, self.outbox, self.counts, self._hand_up, sealer.upcoming & 0xFFFFFFFF)

    @property
    def backlog(self) -> Backlog:
        """Payloads that are neither acknowledged nor given up."""
        return self._peer_table.backlog

    @property
    def reassembly(self) -> Reassembly:
        """The incomplete payloads of all senders."""
        return self._pieces.reassembly

    def now(self) -> float:
        """Return the clock of `Peer.heard` [s]."""
        return self._time()

    def start(self) -> None:
        """Open the sockets."""
        for number, bearer in enumerate(self._bearers):
            bearer.start(partial(self.arrive, number), self._transfers.acks.flush_prompt)

    def close(self) -> None:
        """Close the sockets and forget what waits."""
        self.outbox.close()
        self._transfers.close()
        self._pieces.close()
        for bearer in self._bearers:
            bearer.close()

    # Sending.

    def broadcast(self, port: Port, payload: bytes, urgent: bool = False) -> None:
        """Send a payload to everyone in range, once, unacknowledged."""
        self.counts["broadcast"] += 1
        if len(payload) > MOST_BODY - 2:
            whole = bytes((port,)) + payload
            check_size(whole)
            self._pieces.broadcast(whole, urgent)
        elif self._unlimited:
            self._emit(BROADCASTS[port] + payload, -1, None)
        else:
            self.outbox.put(BROADCASTS[port] + payload, -1, None, urgent)

    def send(self, port: Port, payload: bytes, to: NodeId, token: Any, urgent: bool = False) -> None:
        """Send a payload to a neighbour until it is acknowledged; `failed` follows if it never is."""
        whole = bytes((port,)) + payload
        if len(whole) > MOST_PAYLOAD:
            check_size(whole)
        self._transfers.send(whole, to, token, urgent)

    def withdraw(self, to: NodeId) -> list[Any]:
        """Return the tokens of payloads that wait for a neighbour and were not begun, and forget those."""
        return self._transfers.withdraw(to)

    def hold(self) -> None:
        """Keep the frames that are sent until `release`, to send them together."""
        for each in self._bearers:
            each.hold()

    def release(self) -> None:
        """Send the frames that were kept, and keep no more."""
        for each in self._bearers:
            each.release()

    @property
    def knows_signals(self) -> bool:
        """Whether `signal` may return anything but nan."""
        return any(each.knows_signals for each in self._bearers)

    def signal(self, node: NodeId) -> float:
        """Return the signal with which a neighbour was last heard [W]; nan if unknown."""
        peer = self.peers.get(node)
        if peer is None or peer.address is None:
            return math.nan
        return self._bearers[peer.bearer].signal(peer.address)

    def _overflow(self, token: Any, to: NodeId) -> None:
        self.counts["overflowed"] += 1
        self._loop.call_soon(self._user.overflowed, token, to)

    def _emit(self, body: bytes, bearer: int, address: Address | None) -> int:
        sealer, opener = self._sealer, self._opener
        frame = sealer.seal(body)
        if opener.own_epoch != sealer.sealed_epoch:
            opener.own_epoch = sealer.sealed_epoch
        counts = self.counts
        counts["frames_sent"] += 1
        counts["bytes_sent"] += len(frame)
        if address is None:
            for each in self._bearers:
                each.broadcast(frame)
        else:
            self._bearers[bearer].send(frame, address)
        return len(frame)

    # Receiving.

    def arrive(self, bearer: int, data: bytes, address: Address) -> bool:
        """Take a datagram from a socket; return whether it is a frame of this network."""
        opener = self._opener
        frame = opener.open_known(data)
        if not frame:
            frame = opener.refuse_or_admit(data, frame)
            if isinstance(frame, Refusal):
                if frame is Refusal.CLASH:
                    self._user.clashed()
                return False
        sender, epoch, _, body = frame
        if sender != opener.latest:
            opener.note_latest(sender)
        self.counts["frames_received"] += 1
        if body[:2] == ROUTER_BROADCAST:  # most frames, so they take a short way
            peer = self._peer_table.latest
            if peer.node == sender and peer.epoch == epoch and not peer.lost:
                peer.bearer, peer.address, peer.heard = bearer, address, self._time()
            else:
                self._hear(sender, epoch, bearer, address)
            self._user.take_message(body[2:], sender)
            return True
        if body[:1] == UNICAST and len(body) > UNICAST_HEADER:
            to, number = read_unicast(body)
            peer = self._hear(sender, epoch, bearer, address)
            if to == self._node and self._transfers.accept(peer, number):
                self._hand_up(body[UNICAST_HEADER:], sender)
            return True
        try:
            packet = read_packet(body)
        except FrameError:
            self.counts["malformed"] += 1
            return True
        self._take(packet, self._hear(sender, epoch, bearer, address))
        return True

    def _take(self, packet: Packet, peer: Peer) -> None:
        if isinstance(packet, Unicast):
            to, number, payload, acks = packet
            if to == self._node:
                new = self._transfers.accept(peer, number)
                self._transfers.settle(peer, acks)
                if new:
                    self._hand_up(payload, peer.node)
        elif isinstance(packet, Acks):
            if packet.to == self._node:
                self._transfers.settle(peer, packet.numbers)
        elif isinstance(packet, Broadcast):
            self._hand_up(packet.payload, peer.node)
        elif isinstance(packet, UnicastPiece):
            to, number, message, index, count, piece = packet
            if to == self._node and self._transfers.accept(peer, number):
                self._pieces.assemble(peer.node, message, index, count, piece)
        elif isinstance(packet, Piece):
            self._pieces.take(peer, packet)
        elif isinstance(packet, Repair) and packet.to == self._node:
            self._pieces.repair(peer, packet.message, packet.missing)

    def _hand_up(self, payload: bytes, sender: NodeId) -> None:
        port = PORTS.get(payload[0])
        if port is _ROUTER:
            self._user.take_message(payload[1:], sender)
        elif port is not None:
            self._user.received(port, payload[1:], sender)
        else:
            self.counts["malformed"] += 1


def check_size(payload: bytes) -> None:
    """Refuse a payload that no receiver would take."""
    if len(payload) > MOST_PAYLOAD:
        raise ValueError(f"a payload of {len(payload)} bytes; {MOST_PAYLOAD} are the most")
