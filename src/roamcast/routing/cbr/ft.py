"""FT-CBR: every hop acknowledges, and a silent child is searched for by a short flood (figure 3)."""

from __future__ import annotations

from typing import ClassVar

from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.hop_acks import AckWait
from roamcast.routing.cbr.messages import EventAck, TreeEvent
from roamcast.routing.cbr.parameters import FtCbrParameters
from roamcast.routing.router import BROADCAST, Drop, Host, NodeId, Parameters
from roamcast.routing.state.floods import FloodTable


class FtCbr(Cbr):
    """CBR with an acknowledgement for each hop and a repair flood of two hops."""

    parameters_type: ClassVar[type[Parameters]] = FtCbrParameters
    parameters: FtCbrParameters
    messages = (*Cbr.messages, EventAck)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.waiting = AckWait(host, p.ack_wait, p.unacked, self._search)
        self.floods = FloodTable(p.flood_memory, p.floods)
        self.handlers[EventAck] = self._take_ack

    def _send_down(self, message: TreeEvent) -> None:
        self.host.broadcast(message)
        self.waiting.expect(message)

    def _search(self, message: TreeEvent, lost: frozenset[NodeId]) -> None:
        """Flood an event for the children that have not acknowledged it."""
        self.floods.note(message.about, self.host.now())
        self.host.broadcast(TreeEvent(message.publication, lost, self.parameters.flood_hops))

    def _take_ack(self, message: EventAck, sender: NodeId) -> Drop | None:
        return self.waiting.hear(message.id, sender)

    def _take_event(self, message: TreeEvent, sender: NodeId) -> Drop | None:
        mine = self.host.node in message.children
        flood = message.flood
        if not mine and flood == 0:
            return Drop.NOT_MINE
        if flood > self.parameters.flood_hops:
            return Drop.MALFORMED
        if message.publication.publisher == self.host.node:
            return Drop.DUPLICATE
        reason: Drop | None = Drop.NOT_MINE
        if mine:
            if flood == 0:
                # Also for a copy: the first acknowledgement may have been lost.
                self.host.send(EventAck(message.about), sender)
            if message.about in self.seen:
                reason = Drop.DUPLICATE
            else:
                # Who relays a flood has not taken the event itself, and may be a child that waits for it.
                reason = self._handle(message.publication, sender if flood == 0 else BROADCAST)
        if flood > 0 and self.floods.note(message.about, self.host.now()) and flood > 1:
            others = message.children - {self.host.node}
            if others:
                onward = TreeEvent(message.publication, others, flood - 1)
                self.after_jitter(self.host.broadcast, onward)
                return None
        return reason
