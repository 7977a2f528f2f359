"""FT-CBR: hop-by-hop acknowledgements, and a short flood to find children that do not acknowledge (figure
3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import msgspec

from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.flood_table import FloodTable
from roamcast.routing.cbr.hop_acks import HopAcks
from roamcast.routing.cbr.messages import EventAck, TreeEvent
from roamcast.routing.cbr.parameters import FtCbrParameters
from roamcast.routing.router import (
    BROADCAST,
    DUPLICATE,
    NOT_MINE,
    Drop,
    Footprint,
    Host,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
)


class FtCbr(Cbr):
    """CBR with an acknowledgement for each hop and a repair flood of `flood_hops` hops."""

    shares_process = True
    main_parameters = (
        "renew",
        "expire",
        "covering",
        "link_feedback",
        "ack_wait",
        "flood_hops",
        "flood_memory",
    )
    parameters_type: ClassVar[type[Parameters]] = FtCbrParameters
    parameters: FtCbrParameters
    as_published = MappingProxyType({**Cbr.as_published, "remember_handled": False})
    live = MappingProxyType({**Cbr.live, "ack_wait": "100 ms"})
    messages = (*Cbr.messages, EventAck)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.waiting = HopAcks(host, p.ack_wait, p.unacked, self._search)
        self.floods = FloodTable(p.flood_memory, p.floods, rings=p.search == "ring")
        self.handlers[EventAck] = self._handle_ack

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits of CBR; without `remember_handled` an event may be delivered again."""
        assert isinstance(parameters, FtCbrParameters)
        return msgspec.structs.replace(super().traits(parameters), once=parameters.remember_handled)

    def publish(self, publication: Publication) -> None:
        """Send an event down the trees, and enter it in the flood table."""
        self.floods.enter(publication.id, 0, self.host.now())
        super().publish(publication)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        return {
            **super().tables(),
            "unacknowledged": self.waiting.footprint(),
            "floods": self.floods.footprint(),
        }

    def _is_new(self, publication: Publication) -> bool:
        if self.parameters.remember_handled:
            return super()._is_new(publication)
        taken = self.floods.is_handled(publication.id, self.host.now())  # 13, 14
        return not taken and publication.publisher != self.host.node

    def _send_down(self, message: TreeEvent) -> None:
        super()._send_down(message)
        self.waiting.expect(message)

    def _search(self, message: TreeEvent, lost: frozenset[NodeId]) -> None:
        """Flood an event for the children that have not acknowledged it; figure 3 does not specify which node
        does so."""
        p, now = self.parameters, self.host.now()
        hops = p.flood_hops if p.search == "flood" else message.flood + 1
        self.floods.record_copy(message.publication_id, hops, now)
        self.floods.enter(message.publication_id, hops, now)
        flooded = TreeEvent(message.publication, lost, hops)
        self.host.broadcast(flooded)
        if hops < p.flood_hops:
            self.waiting.expect(flooded)

    def _handle_ack(self, message: EventAck, sender: NodeId) -> Drop | None:
        return self.waiting.hear(message.id, sender)

    def _handle_event(self, message: TreeEvent, sender: NodeId) -> Drop | None:
        """Handle an event as in figure 3; the numbers are its lines, see docs/protocols/ft-cbr.md."""
        flood = message.flood
        for_me = self.host.node in message.children  # 1
        if not for_me and flood == 0:
            return NOT_MINE
        if flood > self.parameters.flood_hops:
            return Drop.MALFORMED
        publication, now = message.publication, self.host.now()
        met_in_flood = self.floods.record_copy(publication.id, flood, now)  # 10-18
        if not for_me and (flood == 1 or met_in_flood):  # nothing to acknowledge, forward or relay
            return NOT_MINE if flood == 1 else DUPLICATE
        acknowledge = for_me and (flood == 0 or self.parameters.search == "ring")  # 27
        if acknowledge:  # 28-32: also for a duplicate, since the first acknowledgement may have been lost
            self.host.send(EventAck(message.publication_id), sender)
        forward = for_me and self._is_new(publication)  # 34
        relay = flood > 1 and not met_in_flood  # 46
        if acknowledge or forward or relay:  # 54-56
            self.floods.enter(message.publication_id, flood, now)
        reason: Drop | None = DUPLICATE
        if forward:  # 35-44
            self.floods.mark_handled(message.publication_id, now)  # 15
            # The relay of a flood has not handled the event itself; it may be a child that waits for it.
            reason = self._handle(publication, sender if flood == 0 else BROADCAST)
        others = message.children - {self.host.node}
        if relay and others:  # 47-52
            self.after_jitter(self.host.broadcast, TreeEvent(publication, others, flood - 1))
            return None
        return reason
