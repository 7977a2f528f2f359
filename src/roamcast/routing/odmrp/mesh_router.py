"""What both protocols do with join requests and data: hear each once, flood the ones, repeat the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import msgspec

from roamcast.routing.numbering import PacketNumbers
from roamcast.routing.odmrp.link_expiry import LinkExpiry
from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.odmrp.passive_acks import PassiveAcks
from roamcast.routing.odmrp.state_facts import CHANNELS, NOISE, Counter, Gauge
from roamcast.routing.router import (
    DUPLICATE,
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
    Router,
)
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_within

Handler = Callable[[Any, NodeId], Drop | None]


class MeshRouter(Router):
    """A router that floods join requests and repeats data, once each."""

    parameters: MeshParameters

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        remember = self.parameters.seen_limit
        self.seen = Seen(remember)
        self.handled = self.seen
        self.delivered = Seen(remember)
        "Publications: the same one may come more than once, on several channels or with a join request."
        self.expiry = LinkExpiry(host, self.parameters)
        self.insistence = PassiveAcks(host, self.parameters)
        self.noise = Counter(host, NOISE)
        self.in_use = Gauge(host, CHANNELS)
        self._numbers = PacketNumbers(host, remember)
        self._handlers: dict[type, Handler] = {}
        "What handles each kind of message."

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Whoever hears an event may be in the forwarding group."""
        assert isinstance(parameters, MeshParameters)
        return ProtocolTraits(subscription_lease=parameters.timeout)

    def tables(self) -> Mapping[str, Footprint]:
        """The size of what is remembered of packets."""
        remember = self.parameters.seen_limit
        return {
            "insistence": self.insistence.footprint(),
            "seen": Footprint(len(self.seen), 8 * len(self.seen), remember),
            "delivered": Footprint(len(self.delivered), 8 * len(self.delivered), remember),
        }

    def _is_new(self, origin: NodeId, packet: int) -> bool:
        """Whether a packet is another node's, and heard for the first time."""
        if origin == self.host.node:
            self.insistence.acknowledge(packet)
            return False
        return self.seen.add(packet)

    def _say(self, message: Any, groups: Collection[Hashable] | None = None) -> None:
        """As the source: flood a message, or send it to some groups."""
        self.insistence.broadcast(message.packet, message, groups)

    # For the protocol to say.

    def _learn(self, message: Any, sender: NodeId, lifetime: int | None) -> None:
        """Keep the last hop of a join request, and answer it as a member."""
        raise NotImplementedError

    def _take(self, publication: Publication) -> Drop | None:
        """Deliver a publication that is wanted here, the first time that it comes; or say why not."""
        raise NotImplementedError

    # What neighbours say.

    def _handle_request(self, message: Any, sender: NodeId) -> Drop | None:
        """A join request: learn the way back, and flood it on."""
        if not self._is_new(message.source, message.packet):
            return DUPLICATE
        lifetime = self.expiry.lifetime(message.motion)
        self._learn(message, sender, lifetime)
        return self._flood_on(message, motion=self.expiry.motion(lifetime))

    def _handle_event_request(self, message: Any, sender: NodeId) -> Drop | None:
        """A join request with an event aboard: besides, the event is for whoever wants it here."""
        flooded = self._handle_request(message, sender)
        if flooded is DUPLICATE:
            return flooded
        ending = self._take(message.publication)
        return flooded if flooded is None or ending is Drop.UNWANTED else ending

    def _flood_on(self, message: Any, **changed: Any) -> Drop | None:
        """Flood a message on, unless it has travelled as far as it may."""
        hops = message.hops + 1
        if hops >= self.parameters.hop_limit:
            return Drop.HOP_LIMIT
        self._repeat(msgspec.structs.replace(message, hops=hops, **changed))
        return None

    def _repeat(self, message: Message) -> None:
        """Pass a message on after a little while of one's own."""
        call_within(self.host, self.parameters.jitter, self.host.broadcast, message)
