"""The base class of ODMRP and Pub/Sub ODMRP: duplicate suppression, flooding and repetition."""

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
    """A router that repeats each join request and each data packet at most once."""

    parameters: MeshParameters

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        remember = self.parameters.seen_limit
        self.seen = Seen(remember)
        self.handled = self.seen
        self.delivered = Seen(remember)
        "Ids of delivered publications; a publication can arrive on several channels or with a join request."
        self.expiry = LinkExpiry(host, self.parameters)
        self.passive_acks = PassiveAcks(host, self.parameters)
        self.noise = Counter(host, NOISE)
        self.in_use = Gauge(host, CHANNELS)
        self._numbers = PacketNumbers(host, remember)
        self._handlers: dict[type, Handler] = {}
        "The handler of each message class."

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits: every receiver of an event may be in the forwarding group."""
        assert isinstance(parameters, MeshParameters)
        return ProtocolTraits(subscription_lease=parameters.timeout)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the packet tables."""
        remember = self.parameters.seen_limit
        return {
            "insistence": self.passive_acks.footprint(),
            "seen": Footprint(len(self.seen), 8 * len(self.seen), remember),
            "delivered": Footprint(len(self.delivered), 8 * len(self.delivered), remember),
        }

    def _is_new(self, origin: NodeId, packet: int) -> bool:
        """Return whether a packet originates at another node and is received for the first time."""
        if origin == self.host.node:
            self.passive_acks.acknowledge(packet)
            return False
        return self.seen.add(packet)

    def _originate(self, message: Any, groups: Collection[Hashable] | None = None) -> None:
        """Send a message as its source: as a flood, or to some groups."""
        self.passive_acks.broadcast(message.packet, message, groups)

    # Implemented by each protocol.

    def _learn(self, message: Any, sender: NodeId, lifetime: int | None) -> None:
        """Store the previous hop of a join request, and reply to the request if this node is a member."""
        raise NotImplementedError

    def _deliver(self, publication: Publication) -> Drop | None:
        """Deliver a publication that matches the interests, once; otherwise return the reason of the drop."""
        raise NotImplementedError

    # Messages from neighbours.

    def _handle_request(self, message: Any, sender: NodeId) -> Drop | None:
        """Store the reverse path of a join request and repeat the request."""
        if not self._is_new(message.source, message.packet):
            return DUPLICATE
        lifetime = self.expiry.lifetime(message.motion)
        self._learn(message, sender, lifetime)
        return self._flood_on(message, motion=self.expiry.motion(lifetime))

    def _handle_event_request(self, message: Any, sender: NodeId) -> Drop | None:
        """Handle a join request that carries an event: deliver the event if it matches the interests."""
        flooded = self._handle_request(message, sender)
        if flooded is DUPLICATE:
            return flooded
        outcome = self._deliver(message.publication)
        return flooded if flooded is None or outcome is Drop.UNWANTED else outcome

    def _flood_on(self, message: Any, **changed: Any) -> Drop | None:
        """Repeat a message unless it has reached the hop limit."""
        hops = message.hops + 1
        if hops >= self.parameters.hop_limit:
            return Drop.HOP_LIMIT
        self._repeat(msgspec.structs.replace(message, hops=hops, **changed))
        return None

    def _repeat(self, message: Message) -> None:
        """Broadcast a message after a random delay of up to `jitter`."""
        call_within(self.host, self.parameters.jitter, self.host.broadcast, message)
