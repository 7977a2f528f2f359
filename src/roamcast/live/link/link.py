"""The link: payloads to everyone in range, and acknowledged payloads to one neighbour."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from functools import partial
from typing import Any, Protocol

from roamcast.live.errors import FrameError
from roamcast.live.link.acks import HeldAcks
from roamcast.live.link.bearer import Bearer
from roamcast.live.link.datagrams import Address
from roamcast.live.link.fragments import Reassembly, RepairStore, cut
from roamcast.live.link.outbox import Outbox
from roamcast.live.link.packets import (
    ATTEMPT_SHIFT,
    BROADCASTS,
    MOST_ACKS,
    MOST_BODY,
    MOST_PAYLOAD,
    NUMBER_MASK,
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
    room_for_acks,
    with_acks,
    with_attempt,
    write_packet,
)
from roamcast.live.link.peer import Backlog, PacketWindow, Peer, Transfer, first_number
from roamcast.live.security.frame import Frame, Opener, Refusal, Sealer
from roamcast.wire.field import NodeId

WINDOW = 8
"Packets to one neighbour that may be unacknowledged at a time."
ATTEMPTS = 6
"Transmissions of a packet before the link gives up on a neighbour that acknowledges nothing."
ALIVE = 0.1
"Seconds for which a neighbour counts as reachable after an acknowledgement: it gets three times as many."
ABSENT = 0.5
"Seconds of silence after which a neighbour that the link gave up has returned if it is heard again."
MOST_WAITING = 512
"Payloads that wait for one neighbour."
MOST_WAITING_BYTES = 1 << 20
MOST_BACKLOG_BYTES = 8 << 20
"Bytes of payloads for all neighbours together that were neither acknowledged nor given up."
MOST_PEERS = 1024
"Neighbours remembered; the one silent longest, for which nothing waits, is forgotten."
REPAIR_WAIT = 0.03
"Seconds without a further fragment before missing ones are asked for."
REPAIR_REQUESTS = 6
PROMPT_ACKS = WINDOW // 2
"As many acknowledgements for one neighbour do not wait: it might have to."


class LinkUser(Protocol):
    """What a link calls."""

    def take_message(self, message: bytes, sender: NodeId) -> None:
        """Take a payload of port ROUTER from a neighbour."""

    def received(self, port: Port, payload: bytes, sender: NodeId) -> None:
        """Take a payload of any other port."""

    def failed(self, token: Any, to: NodeId) -> None:
        """Learn that the link gave up on the payload sent with `token`."""

    def overflowed(self, token: Any, to: NodeId) -> None:
        """Learn that too much waits for `to`, and the payload sent with `token` was dropped."""

    def met(self, node: NodeId) -> None:
        """Learn that a neighbour was heard for the first time."""

    def returned(self, node: NodeId) -> None:
        """Learn that a neighbour is heard again that the link had given up."""

    def clashed(self) -> None:
        """Learn that another node of the network uses the id of this one."""


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
        self._loop = asyncio.get_running_loop()
        self._sealer = sealer
        self._opener = opener
        self._bearers = bearers
        self._user = user
        self.outbox = Outbox(self._loop, self._emit, budget)
        self._unlimited = budget is None
        self.peers: OrderedDict[NodeId, Peer] = OrderedDict()
        self.backlog = Backlog()
        self._latest = Peer(-1, 0, self.backlog)
        "The neighbour that was heard last."
        self._time = self._loop.time
        self.reassembly = Reassembly(self._loop.time)
        self._repairs = RepairStore(self._loop.time)
        self._acks = HeldAcks(self._loop, self._send_acks, PROMPT_ACKS)
        self._message = sealer.upcoming & 0xFFFFFFFF
        self._numbers = first_number(start)
        "The number before the first one of a new neighbour."
        self.counts: Counter[str] = Counter()
        "Frames and payloads by what became of them."
        self._closed = False

    def now(self) -> float:
        """Return the clock of `Peer.heard` [s]."""
        return self._loop.time()

    def start(self) -> None:
        """Open the sockets."""
        for number, bearer in enumerate(self._bearers):
            bearer.start(partial(self.arrive, number), self._drained)

    def close(self) -> None:
        """Close the sockets and forget what waits."""
        self._closed = True
        self.outbox.close()
        self._acks.close()
        for peer in self.peers.values():
            if peer.timer is not None:
                peer.timer.cancel()
        for bearer in self._bearers:
            bearer.close()

    # Sending.

    def broadcast(self, port: Port, payload: bytes, urgent: bool = False) -> None:
        """Send a payload to everyone in range, once, unacknowledged."""
        self.counts["broadcast"] += 1
        if len(payload) <= MOST_BODY - 2:
            body = BROADCASTS[port] + payload
            if self._unlimited:
                self._emit(body, -1, None)
            else:
                self.outbox.put(body, -1, None, urgent)
            return
        whole = bytes((port,)) + payload
        check_size(whole)
        pieces = cut(whole)
        self._message = self._message + 1 & 0xFFFFFFFF
        self._repairs.keep(self._message, pieces)
        for index, piece in enumerate(pieces):
            self._put(Piece(self._message, index, len(pieces), piece), None, urgent)

    def send(self, port: Port, payload: bytes, to: NodeId, token: Any, urgent: bool = False) -> None:
        """Send a payload to a neighbour until it is acknowledged; `failed` follows if it never is."""
        whole = bytes((port,)) + payload
        check_size(whole)
        self.counts["unicast"] += 1
        peer = self._peer(to)
        if (
            len(peer.waiting) + len(peer.urgent) >= MOST_WAITING
            or peer.bytes + len(whole) > MOST_WAITING_BYTES
            or self.backlog.bytes + len(whole) > MOST_BACKLOG_BYTES
        ):
            self._overflow(token, to)
            return
        peer.enqueue(Transfer(whole, token, urgent))
        self._pump(peer)

    def _overflow(self, token: Any, to: NodeId) -> None:
        self.counts["overflowed"] += 1
        self._loop.call_soon(self._user.overflowed, token, to)

    def withdraw(self, to: NodeId) -> list[Any]:
        """Return the tokens of payloads that wait for a neighbour and were not begun, and forget those."""
        peer = self.peers.get(to)
        return [] if peer is None else [transfer.token for transfer in peer.take_back()]

    def _pump(self, peer: Peer) -> None:
        while len(peer.inflight) < WINDOW and not peer.idle and not peer.suspect_at(self._time()):
            found = peer.next_packet()
            if found is None:
                break
            number, pending = found
            peer.inflight[number] = pending
            self._transmit(peer, pending)
        self._watch(peer)

    def _transmit(self, peer: Peer, pending: Any) -> None:
        now = self._time()
        sent = pending.sent
        sent.append(now)
        attempts = len(sent)
        pending.due = now + peer.round_trip.timeout(attempts, peer.heard > sent[0])
        if attempts > 1:
            self.counts["retried"] += 1
        body = with_attempt(pending.body, attempts)
        body = with_acks(body, self._acks.take(peer.node, room_for_acks(body)))
        self.outbox.put(body, peer.bearer, peer.address, pending.transfer.urgent)

    def _watch(self, peer: Peer) -> None:
        if peer.timer is None and peer.inflight and not self._closed:
            due = next(iter(peer.inflight.values())).due
            if len(peer.inflight) > 1:
                due = min(pending.due for pending in peer.inflight.values())
            peer.timer = self._loop.call_at(due, self._retry, peer)

    def _retry(self, peer: Peer) -> None:
        peer.timer = None
        now = self._loop.time()
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
            self.counts["failed"] += 1
            self._user.failed(transfer.token, peer.node)
        self._pump(peer)

    def _put(self, packet: Packet, peer: Peer | None, urgent: bool) -> None:
        body = write_packet(packet)
        if peer is None:
            self.outbox.put(body, -1, None, urgent)
        else:
            self.outbox.put(body, peer.bearer, peer.address, urgent)

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
        frame = self._opener.open(data)
        if type(frame) is not Frame:
            if frame is Refusal.CLASH:
                self._user.clashed()
            return False
        self.counts["frames_received"] += 1
        sender, epoch, _, body = frame
        if body[:2] == ROUTER_BROADCAST:  # most frames, so they take a short way
            self._hear(sender, epoch, bearer, address)
            self._user.take_message(body[2:], sender)
            return True
        if body[:1] == UNICAST and len(body) > UNICAST_HEADER:
            to, number = read_unicast(body)
            if self._is_new(self._hear(sender, epoch, bearer, address), to, number):
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
        sender = peer.node
        match packet:
            case Broadcast(payload):
                self._hand_up(payload, sender)
            case Unicast(to, number, payload, acks):
                if to == self._sealer.sender:
                    new = self._is_new(peer, to, number)
                    self._settle(peer, acks)
                    if new:
                        self._hand_up(payload, sender)
            case UnicastPiece(to, number, message, index, count, piece):
                if self._is_new(peer, to, number):
                    self._assemble(sender, message, index, count, piece)
            case Piece(message, index, count, piece):
                self._assemble(sender, message, index, count, piece)
                if (sender, message) in self.reassembly.open:
                    self._loop.call_later(REPAIR_WAIT, self._ask_repair, sender, message, index)
            case Acks(to, numbers):
                if to == self._sealer.sender:
                    self._settle(peer, numbers)
            case Repair(to, message, missing):
                if to == self._sealer.sender:
                    self._serve_repair(peer, message, missing)

    def _hear(self, sender: NodeId, epoch: int, bearer: int, address: Address) -> Peer:
        """Note where a neighbour was heard."""
        peer = self._latest
        if peer.node != sender:
            peer = self._latest = self._peer(sender)
        first, now = not peer.heard, self._time()
        returned = peer.lost and now - peer.heard > ABSENT
        peer.bearer, peer.address, peer.heard, peer.lost = bearer, address, now, False
        if peer.epoch != epoch:
            peer.epoch, peer.received = epoch, PacketWindow()
        if first:
            self._user.met(sender)
        elif returned:
            self._user.returned(sender)
        return peer

    def _peer(self, node: NodeId) -> Peer:
        peer = self.peers.get(node)
        if peer is not None:
            self.peers.move_to_end(node)
            return peer
        peer = self.peers[node] = Peer(node, self._numbers, self.backlog)
        if len(self.peers) > MOST_PEERS:
            idle = (n for n, each in self.peers.items() if not each.inflight and not each.ready and n != node)
            forgotten = self.peers.pop(next(idle, next(iter(self.peers))))
            self._numbers = max(self._numbers, forgotten.latest)
            for transfer in forgotten.take_back():
                self._overflow(transfer.token, forgotten.node)
            self._latest = Peer(-1, 0, self.backlog)
        return peer

    def _is_new(self, peer: Peer, to: NodeId, number: int) -> bool:
        """Acknowledge a packet for this node; return whether it was not received before."""
        if to != self._sealer.sender:
            return False
        new = peer.received.accept(number & NUMBER_MASK)
        if not new:
            self.counts["repeated"] += 1
        # A neighbour that repeats has waited long enough.
        self._acks.add(peer.node, number, prompt=not new or number >> ATTEMPT_SHIFT > 1)
        return new

    def _drained(self) -> None:
        """Send the acknowledgements of a batch of datagrams that do not wait for a packet to carry them."""
        self._acks.flush()

    def _send_acks(self, node: NodeId, numbers: list[int]) -> None:
        peer = self.peers.get(node)
        for at in range(0, len(numbers) if peer is not None else 0, MOST_ACKS):
            self._put(Acks(node, tuple(numbers[at : at + MOST_ACKS])), peer, urgent=True)

    def _settle(self, peer: Peer, numbers: tuple[int, ...]) -> None:
        now = self._loop.time()
        for number in numbers:
            pending = peer.inflight.pop(number & NUMBER_MASK, None)
            if pending is None:
                continue
            attempt = number >> ATTEMPT_SHIFT
            if 0 < attempt <= pending.attempts:
                peer.round_trip.measure(now - pending.sent[attempt - 1])
            pending.transfer.left -= 1
            if not pending.transfer.left:
                peer.finish(pending.transfer)
            peer.acknowledged = now
        if peer.timer is not None:  # it waits for a packet that has been acknowledged
            peer.timer.cancel()
            peer.timer = None
        self._pump(peer)

    def _hand_up(self, payload: bytes, sender: NodeId) -> None:
        port = PORTS.get(payload[0])
        if port is None:
            self.counts["malformed"] += 1
            return
        if port is Port.ROUTER:
            self._user.take_message(payload[1:], sender)
        else:
            self._user.received(port, payload[1:], sender)

    def _assemble(self, sender: NodeId, message: int, index: int, count: int, piece: bytes) -> None:
        whole = self.reassembly.add(sender, message, index, count, piece)
        if whole is not None:
            self._hand_up(whole, sender)

    def _ask_repair(self, sender: NodeId, message: int, index: int) -> None:
        """Ask the sender for fragments that have not come, unless one came after fragment `index`."""
        found = self.reassembly.open.get((sender, message))
        peer = self.peers.get(sender)
        if found is None or peer is None or self._closed or list(found.pieces)[-1] != index:
            return
        if found.requests < REPAIR_REQUESTS:
            found.requests += 1
            self.counts["repairs_asked"] += 1
            self._put(Repair(sender, message, found.missing()), peer, urgent=True)
            self._loop.call_later(REPAIR_WAIT, self._ask_repair, sender, message, index)

    def _serve_repair(self, peer: Peer, message: int, missing: tuple[int, ...]) -> None:
        pieces = self._repairs.pieces(message)
        for index in missing:
            if index < len(pieces):
                self.counts["repairs_sent"] += 1
                self._put(Piece(message, index, len(pieces), pieces[index]), peer, urgent=False)


def check_size(payload: bytes) -> None:
    """Refuse a payload that no receiver would take."""
    if len(payload) > MOST_PAYLOAD:
        raise ValueError(f"a payload of {len(payload)} bytes; {MOST_PAYLOAD} are the most")
