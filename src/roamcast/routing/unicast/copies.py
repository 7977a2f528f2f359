"""One unicast copy per receiver: the baseline in which publishers know the subscribers.

The publisher knows which nodes subscribe to an event, and sends each of them a separate copy by unicast. No
subscriptions are sent, so that a run measures the unicast protocol alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from roamcast.routing.router import (
    Category,
    Dissemination,
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
    Role,
    Router,
)
from roamcast.routing.state.seen import Seen
from roamcast.routing.unicast.aodv.aodv import Aodv
from roamcast.routing.unicast.aodv.parameters import NS2 as AODV_OF_NS2
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.dsdv.dsdv import Dsdv
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.routing.unicast.dsr.dsr import Dsr
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR_OF_NS2
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.unicast import Unicast, UnicastUser

REMEMBERED = 65536


class Copy(Message, number=2, category=Category.EVENT, role=Role.EVENT):
    """A publication for one receiver."""

    publication: Publication


class UnicastCopies(Router, UnicastUser):
    """One copy per receiver, over any unicast protocol."""

    unicast_type: ClassVar[type[Unicast]]
    knows_audience = True

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.unicast = self.unicast_type(host, self.parameters, self)
        self.handled = self.unicast.handled
        self.promiscuous = self.unicast.promiscuous
        self.seen = Seen(REMEMBERED)

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits: each receiver is sent its own copy."""
        return ProtocolTraits(travel=Dissemination.ADDRESSED)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the unicast protocol's tables and of the table of delivered publications."""
        seen = len(self.seen)
        return {**self.unicast.tables(), "seen": Footprint(seen, 8 * seen, REMEMBERED)}

    def start(self) -> None:
        """Start the unicast protocol."""
        self.unicast.start()

    def publish(self, publication: Publication) -> None:
        """Send a copy to each subscriber."""
        for receiver in self.audience(publication):
            if receiver != self.host.node:
                self.unicast.send(Copy(publication), receiver)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the unicast protocol, the only sender."""
        return self.unicast.receive(message, sender, signal) if type(message) is not Copy else Drop.MALFORMED

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Pass an overheard message to the unicast protocol."""
        self.unicast.overhear(message, sender, to, signal)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Pass a link failure to the unicast protocol."""
        self.unicast.link_failed(message, to)

    # Callback of the unicast protocol; undeliverable copies are dropped.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Deliver a publication, once."""
        if not isinstance(message, Copy) or message.publication.publisher != origin:
            return Drop.MALFORMED
        if not self.seen.add(message.publication_id):
            return Drop.DUPLICATE
        self.host.deliver(message.publication)
        return None


class DsdvUnicast(UnicastCopies):
    """One copy per receiver, over DSDV."""

    shares_process = True
    main_parameters = ("period", "settling", "link_feedback", "queue_per_destination")
    unicast_type = Dsdv
    parameters_type = DsdvParameters
    live = MappingProxyType(
        {"period": "1 s", "settling": "200 ms", "trigger_gap": "100 ms", "start_jitter": "200 ms"}
    )
    messages = (Copy, *Dsdv.messages)


class AodvUnicast(UnicastCopies):
    """One copy per receiver, over AODV."""

    shares_process = True
    main_parameters = ("active_route_timeout", "hello_interval", "local_repair", "rreq_retries", "ttl_start")
    unicast_type = Aodv
    parameters_type = AodvParameters
    ns2 = AODV_OF_NS2
    messages = (Copy, *Aodv.messages)


class DsrUnicast(UnicastCopies):
    """One copy per receiver, over DSR."""

    shares_process = True
    main_parameters = ("cached_replies", "overhearing", "cache_timeout", "max_salvages", "flow_state")
    unicast_type = Dsr
    parameters_type = DsrParameters
    ns2 = DSR_OF_NS2
    live = MappingProxyType({"overhearing": False, "cache_timeout": "30 s"})
    messages = (Copy, *Dsr.messages)
