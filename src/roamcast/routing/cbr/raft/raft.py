"""RAFT-CBR: reliable, ordered delivery by explicit multicast over a unicast routing protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.cbr.advertising import Advertising
from roamcast.routing.cbr.messages import Advert
from roamcast.routing.cbr.raft import footprints
from roamcast.routing.cbr.raft.broker.ack_aggregation import AckAggregator
from roamcast.routing.cbr.raft.broker.cache import EventCache
from roamcast.routing.cbr.raft.broker.custody import Custody
from roamcast.routing.cbr.raft.broker.duplicates import RecentDuplicates
from roamcast.routing.cbr.raft.broker.upstream import UpstreamSender
from roamcast.routing.cbr.raft.messages import (
    CIRCLE,
    HIGHEST_AGE,
    LIST_LIMIT,
    Ack,
    Addressee,
    EditionAck,
    Nack,
    Ping,
    Subscribe,
    SubscribeAck,
    XcastEvent,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.publisher.publisher import RaftPublisher
from roamcast.routing.cbr.raft.subscriber.addressee import RaftAddressee
from roamcast.routing.cbr.raft.subscriber.ordered_delivery import OrderedDelivery
from roamcast.routing.cbr.raft.subscriber.subscriber import RaftSubscriber
from roamcast.routing.cbr.raft.xcast import Xcast, join_chain
from roamcast.routing.router import (
    DeliveryGuarantee,
    Dissemination,
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
)
from roamcast.routing.unicast.aodv.aodv import Aodv
from roamcast.routing.unicast.dsdv.dsdv import Dsdv
from roamcast.routing.unicast.dsdv.messages import DsdvUpdate
from roamcast.routing.unicast.dsr.dsr import Dsr
from roamcast.routing.unicast.unicast import Unicast


class RaftCbr(Advertising):
    """Router in which a publisher knows its subscribers and stores each event until all have acknowledged
    it."""

    shares_process = True
    main_parameters = ("renew", "expire", "unicast", "recall", "custody", "paced", "window")
    parameters_type: ClassVar[type[Parameters]] = RaftCbrParameters
    parameters: RaftCbrParameters
    as_published = MappingProxyType(
        {
            "advert_serials": False,
            "recall": "0 s",
            "retract": False,
            "advert_hints": False,
            "reroute": False,
            "share_hops": False,
            "custody": False,
            "paced": False,
            "retransmit_runs": False,
            "ack_collection": "children",
            "dsdv.detours": False,
            "dsdv.queue_timeout": "0 s",
        }
    )
    live = MappingProxyType(
        {
            "renew": "1 s",
            "expire": "3 s",
            "ping_wait": "2 s",
            "unicast": "dsr",
            "dsr.overhearing": False,
            "ack_collection": "latest",
            "link_retry": "0.02 s",
            "quick_retry": "0.5 s",
            "unacknowledged_events": 4096,
        }
    )
    messages = (
        *(Advert, XcastEvent, Subscribe, SubscribeAck, EditionAck, Ping, Ack, Nack),
        *Dsdv.messages,
        *(message for message in Aodv.messages if message not in Dsdv.messages),
        *Dsr.messages,
    )

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        # Attributes of a pydantic model are slow to read.
        self._chain_limit = p.chain_limit
        self.unicast = self._unicast_below()
        self.handled, self.promiscuous = self.unicast.handled, self.unicast.promiscuous
        self.xcast = Xcast(host, p, self.unicast)
        self.publishing = RaftPublisher(host, p, self.incarnation, self.xcast, self.unicast)
        self.cache = EventCache(host, p)
        self.upstream = UpstreamSender(host, p, self.unicast, self.cache)
        self.ordering = OrderedDelivery(host, p, self.incarnation, self._acknowledge, self.upstream.request)
        self.subscribing = RaftSubscriber(
            host,
            p,
            self.incarnation,
            self.unicast.send,
            last=self.ordering.last,
            evict=self.ordering.drop_buffered,
        )
        self.addressee = RaftAddressee(host, self.incarnation, self.subscribing, self.ordering)
        self._handle_addressed = self.addressee.handle_event
        self.custody = Custody(host, p, self.cache, self.xcast.send_event)
        self.recent = RecentDuplicates(host, p)
        self.acks = AckAggregator(host, p, self.cache, self.upstream.acknowledge)
        self.handlers |= {XcastEvent: self._handle_event, Ping: self._handle_ping}
        if isinstance(self.unicast, Dsdv):  # half of all messages: call the handler directly
            self.handlers[DsdvUpdate] = self.unicast.handle_update
        self.arrivals: dict[type, Callable[[Any, NodeId], Drop | None]] = {
            XcastEvent: self._handle_event,
            Ping: self._handle_ping,
            Ack: self._handle_ack,
            Nack: self._handle_nack,
            Subscribe: self._handle_subscribe,
            SubscribeAck: self.addressee.handle_subscribe_ack,
            EditionAck: self.addressee.handle_subscribe_ack,
        }

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return traits: every subscriber receives each event once and in order, retransmitted until
        acknowledged."""
        assert isinstance(parameters, RaftCbrParameters)
        return ProtocolTraits(
            travel=Dissemination.ADDRESSED,
            promise=DeliveryGuarantee.UNTIL_ACKNOWLEDGED,
            ordered=True,
            recall=parameters.recall,
        )

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        return {
            **super().tables(),
            **self.unicast.tables(),
            **footprints.of_publisher(self.publishing),
            **footprints.of_subscriber(self.subscribing, self.ordering),
            **footprints.of_broker(self.cache, self.custody, self.acks),
            "recent": self.recent.footprint(),
            "upstream": self.upstream.footprint(),
        }

    def routes(self) -> Mapping[NodeId, NodeId]:
        """Return the next hop to each publisher, by advertisements, and to each subscriber, by unicast."""
        hops = {node: self.unicast.next_hop(node) for node in self.publishing.sessions}
        return {**super().routes(), **{node: hop for node, hop in hops.items() if hop is not None}}

    def _unicast_below(self) -> Unicast:
        p = self.parameters
        if p.unicast == "aodv":
            return Aodv(self.host, p.aodv, self)
        if p.unicast == "dsr":
            return Dsr(self.host, p.dsr, self)
        return Dsdv(self.host, p.dsdv, self)

    # Calls of the application.

    def start(self) -> None:
        """Start advertising and unicast routing."""
        super().start()
        self.unicast.start()

    def publish(self, publication: Publication) -> Drop | None:
        """Send an event to all known subscribers whose filters match it."""
        if self.may_refuse and len(self.publishing.events) >= self.parameters.unacknowledged_events:
            return Drop.TABLE_FULL
        self.publishing.settled = self._settle
        self.publishing.publish(publication)
        return None

    def unacknowledged(self, publication: int) -> int:
        """Return how many subscribers have yet to acknowledge a publication."""
        return self.publishing.unacknowledged(publication % CIRCLE)

    def known_receivers(self, event: Event) -> int:
        """Return the number of subscribers whose filters match an event."""
        return self.publishing.known_receivers(event)

    def abandon(self, publication: int) -> None:
        """Stop retransmitting a publication to the subscribers that have not acknowledged it."""
        self.publishing.abandon(publication % CIRCLE)

    def _settle(self, sequence: int, subscriber: NodeId, acknowledged: bool | None) -> None:
        self.settled(self.host.node << 32 | sequence, subscriber, acknowledged)

    def subscribe(self, filter: Filter) -> None:
        """Subscribe, and inform the publishers whose advertisements intersect the interests."""
        super().subscribe(filter)
        self.subscribing.update_interests(self.interests)

    def unsubscribe(self, filter: Filter) -> None:
        """Unsubscribe; events already addressed to this node are still delivered."""
        super().unsubscribe(filter)
        self.subscribing.update_interests(self.interests)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Handle a message of RAFT-CBR, or pass one of the unicast protocol on to it."""
        handler = self.handlers.get(type(message))
        if handler is not None:
            return Drop.MALFORMED if sender == self._node else handler(message, sender)
        if type(message) in self.unicast.messages:
            return self.unicast.receive(message, sender, signal)
        return Drop.MALFORMED

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Pass an overheard message to the unicast protocol."""
        self.unicast.overhear(message, sender, to, signal)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Inform the unicast protocol, and send the message by another route; without one, retry an event
        later."""
        self.unicast.link_failed(message, to)
        p = self.parameters
        if isinstance(message, XcastEvent):
            stuck = self.xcast.reroute_event(message) if p.reroute else message.destinations
            if stuck and p.custody:
                self._keep(message, stuck)
        elif isinstance(message, Ping) and p.reroute:
            self.xcast.reroute_ping(message)

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Inform the unicast protocol."""
        self.unicast.neighbour_appeared(neighbour)

    # Callbacks of the unicast protocol.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Dispatch a unicast message for this node to its handler."""
        handler = self.arrivals.get(type(message))
        return Drop.MALFORMED if handler is None else handler(message, sender)

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Take custody of an event without a route; return whether the message was one.

        Other messages are recovered end to end.
        """
        if not isinstance(message, XcastEvent) or reason is not Drop.NO_ROUTE or not self.parameters.custody:
            return False
        if message.publication.publisher == self.host.node != origin:
            # A broker's copy came back to the publisher: retransmit from the publisher's own store instead.
            self.publishing.fail(message.publication.sequence, [each.node for each in message.destinations])
            return False
        self._keep(message, message.destinations)
        return True

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Return a neighbour towards the publisher, by its events and advertisements, while no route is
        known."""
        if not isinstance(message, Subscribe | Ack | Nack) or not self.parameters.advert_hints:
            return None
        neighbour = self.upstream.neighbour(destination, self.parameters.cache_lease)
        if neighbour is not None and neighbour not in avoid:
            return neighbour
        return self.adverts.nearest(destination, avoid, self.host.now())

    def add_age(self, message: Message, seconds: float) -> Message:
        """Add the time spent waiting for a route to the age of an event or the periods of a subscription."""
        if isinstance(message, Subscribe):
            return message.grow_older(int(1000 * seconds))
        if not isinstance(message, XcastEvent):
            return message
        return msgspec.structs.replace(message, age=min(message.age + int(1000 * seconds), HIGHEST_AGE))

    def _keep(self, event: XcastEvent, stuck: tuple[Addressee, ...]) -> None:
        if event.publication.publisher == self.host.node:
            if not self.publishing.fail(event.publication.sequence, [addressee.node for addressee in stuck]):
                self.host.drop(event, Drop.NO_ROUTE)
        elif self.custody.add(event, stuck):
            self.xcast.return_event(msgspec.structs.replace(event, destinations=stuck))

    def count_renewal(self) -> None:
        """Advance the serial, and record its time."""
        super().count_renewal()
        self.publishing.log.advance_serial(self.serial)

    # Sending.

    def _acknowledge(self, publisher: NodeId, sequence: int) -> None:
        self.acks.add_own(publisher, sequence)

    # Receiving.

    def _handle_advert(self, advert: Advert, sender: NodeId) -> Drop | None:
        refused = Advertising._handle_advert(self, advert, sender)
        if refused is None:
            self.subscribing.hear(advert)
        return refused

    def _handle_event(self, event: XcastEvent, sender: NodeId) -> Drop | None:
        if len(event.chain) > self._chain_limit:
            return Drop.HOP_LIMIT
        publication, me = event.publication, self._node
        if publication.publisher == me:
            return Drop.MALFORMED
        if self.recent.is_copy(event):
            return Drop.DUPLICATE
        self.upstream.note(publication.publisher, sender)
        self.subscribing.hear_event(
            publication.publisher, publication.sequence, self.host.now() - event.age / 1000
        )
        chain = join_chain(event.chain, me)
        self.cache.add(event, chain)
        reason: Drop | None = None
        others = []
        for destination in event.destinations:
            if destination[0] == me:  # by index: the name takes several times as long
                reason = self._handle_addressed(event, destination, chain)
            else:
                others.append(destination)
        if others:
            onward = XcastEvent(publication, chain, tuple(others), event.age)
            if me in event.chain:
                # Returned by a neighbour without a route. The neighbour has custody, so this node need not
                # store it.
                stuck = self.xcast.reroute_event(onward, avoid=(sender,))
                if stuck:
                    self.host.drop(msgspec.structs.replace(onward, destinations=stuck), Drop.NO_ROUTE)
            else:
                self.xcast.send_event(onward)
        return reason

    def _handle_ping(self, ping: Ping, sender: NodeId) -> Drop | None:
        if ping.publisher == self.host.node:
            return Drop.MALFORMED
        if len(ping.chain) > self.parameters.chain_limit:
            return Drop.HOP_LIMIT
        if self.recent.is_copy(ping):
            return Drop.DUPLICATE
        self.upstream.note(ping.publisher, sender)
        chain = join_chain(ping.chain, self.host.node)
        others = tuple(d for d in ping.destinations if d != self.host.node)
        if len(others) < len(ping.destinations):
            self.addressee.handle_ping(ping.publisher, chain)
        if others:
            self.xcast.send_ping(Ping(ping.publisher, chain, others))
        return None

    def _handle_ack(self, ack: Ack, sender: NodeId) -> Drop | None:
        if ack.publisher != self.host.node:
            self.acks.add(ack.publisher, ack.sequence, ack.subscribers)
            if self.custody.waiting:
                self.custody.acknowledge(ack.publisher, ack.sequence, ack.subscribers)
            return None
        reasons = [self.publishing.acknowledge(node, ack.sequence) for node in sorted(ack.subscribers)]
        return None if None in reasons else reasons[0]

    def _handle_nack(self, nack: Nack, sender: NodeId) -> Drop | None:
        if not nack.holes:
            return Drop.MALFORMED
        if nack.publisher == self.host.node:
            return self.publishing.serve(nack)
        if nack.subscriber == self.host.node or len(nack.chain) >= self.parameters.chain_limit:
            return Drop.MALFORMED
        served, holes = self.cache.serve(nack)
        for event in served:
            self.unicast.send(event, nack.subscriber)
        if holes:
            self.upstream.request(msgspec.structs.replace(nack, holes=tuple(holes[:LIST_LIMIT])))
        return None

    def _handle_subscribe(self, message: Subscribe, sender: NodeId) -> Drop | None:
        if message.subscriber == self.host.node:
            return Drop.MALFORMED
        return self.publishing.subscribe(message)
