"""Long payloads: cut into fragments for everyone, put together again, and repaired by their sender."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from roamcast.live.link.fragments import Reassembly, RepairStore, cut
from roamcast.live.link.outbox import Outbox
from roamcast.live.link.packets import Piece, Repair, write_packet
from roamcast.live.link.unicast.peer import Peer
from roamcast.wire.field import NodeId

REPAIR_WAIT = 0.03
"Seconds without a further fragment before missing ones are asked for."
REPAIR_REQUESTS = 6


class Pieces:
    """The fragments of one node in both directions."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        outbox: Outbox,
        counts: Counter[str],
        hand_up: Callable[[bytes, NodeId], None],
        first: int,
    ) -> None:
        """`hand_up` takes what is complete; `first`: the number before that of the first broadcast."""
        self._loop = loop
        self._put = outbox.put
        self._counts = counts
        self._hand_up = hand_up
        self._message = first
        self.reassembly = Reassembly(loop.time)
        self._repairs = RepairStore(loop.time)
        self._closed = False

    def close(self) -> None:
        """Ask for no more repairs."""
        self._closed = True

    def broadcast(self, whole: bytes, urgent: bool) -> None:
        """Send a port and a payload to everyone in fragments."""
        pieces = cut(whole)
        self._message = self._message + 1 & 0xFFFFFFFF
        self._repairs.keep(self._message, pieces)
        for index, piece in enumerate(pieces):
            self._put(write_packet(Piece(self._message, index, len(pieces), piece)), -1, None, urgent)

    def take(self, peer: Peer, piece: Piece) -> None:
        """Take a fragment of a broadcast, and ask for missing ones after a moment."""
        sender, message = peer.node, piece.message
        self.assemble(sender, message, piece.place, piece.pieces, piece.payload)
        if (sender, message) in self.reassembly.open:
            self._loop.call_later(REPAIR_WAIT, self._ask_repair, peer, message, piece.place)

    def assemble(self, sender: NodeId, message: int, index: int, count: int, piece: bytes) -> None:
        """Take a fragment, and hand up the payload if it is complete."""
        whole = self.reassembly.add(sender, message, index, count, piece)
        if whole is not None:
            self._hand_up(whole, sender)

    def _ask_repair(self, peer: Peer, message: int, index: int) -> None:
        """Ask the sender for fragments that have not come, unless one came after fragment `index`."""
        found = self.reassembly.open.get((peer.node, message))
        if found is None or self._closed or list(found.pieces)[-1] != index:
            return
        if found.requests < REPAIR_REQUESTS:
            found.requests += 1
            self._counts["repairs_asked"] += 1
            body = write_packet(Repair(peer.node, message, found.missing()))
            self._put(body, peer.bearer, peer.address, True)
            self._loop.call_later(REPAIR_WAIT, self._ask_repair, peer, message, index)

    def repair(self, peer: Peer, message: int, missing: tuple[int, ...]) -> None:
        """Send a neighbour the fragments of an own broadcast that it misses."""
        pieces = self._repairs.pieces(message)
        for index in missing:
            if index < len(pieces):
                self._counts["repairs_sent"] += 1
                body = write_packet(Piece(message, index, len(pieces), pieces[index]))
                self._put(body, peer.bearer, peer.address, False)
