"""The neighbours of a node: where each was heard, when, and whether it is new or has returned."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from roamcast.live.link.clock import clock_of
from roamcast.live.link.datagrams import Address
from roamcast.live.link.unicast.peer import Backlog, PacketWindow, Peer
from roamcast.live.link.user import LinkUser
from roamcast.wire.field import NodeId

ABSENT = 0.5
"Seconds of silence after which a neighbour that the link gave up has returned if it is heard again."
MOST_PEERS = 1024
"PeerTable remembered; the one silent longest, for which nothing waits, is forgotten."


class PeerTable:
    """The neighbours of one node."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        user: LinkUser,
        numbers: int,
        overflow: Callable[[Any, NodeId], None],
    ) -> None:
        """`numbers`: the number before the first one of a new neighbour.

        `overflow` takes the tokens of payloads for neighbours that are forgotten.
        """
        self._time = clock_of(loop)
        self._user = user
        self._numbers = numbers
        self._overflow = overflow
        self.peers: OrderedDict[NodeId, Peer] = OrderedDict()
        self.backlog = Backlog()
        self._nobody = Peer(-1, 0, self.backlog)
        self.latest = self._nobody
        "The neighbour that was heard last."

    def hear(self, sender: NodeId, epoch: int, bearer: int, address: Address) -> Peer:
        """Note where a neighbour was heard."""
        peer, now = self.latest, self._time()
        if peer.node == sender and peer.epoch == epoch and not peer.lost:
            peer.bearer, peer.address, peer.heard = bearer, address, now
            return peer
        peer = self.latest = self.find(sender)
        first = not peer.heard
        returned = peer.lost and now - peer.heard > ABSENT
        peer.bearer, peer.address, peer.heard, peer.lost = bearer, address, now, False
        if peer.epoch != epoch:
            peer.epoch, peer.received = epoch, PacketWindow()
        if first:
            self._user.met(sender)
        elif returned:
            self._user.returned(sender)
        return peer

    def find(self, node: NodeId) -> Peer:
        """Return a neighbour, which counts as used; a new one if it is not known."""
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
            self.latest = self._nobody
        return peer
