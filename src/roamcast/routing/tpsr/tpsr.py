"""TPSR: the flood of a subscription sets up a source route to the subscriber, which publications follow.

The modules of this package implement section IV of the paper: renewal of subscriptions (`renewal`), selection
of routes (`route_table`), creation, forwarding and retransmission of jobs (`jobs`, `forwarding`, `retries`).
PAMPA floods subscriptions, and publications whose route is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from roamcast.content.filter import Filter
from roamcast.routing.pampa.pampa import Pampa
from roamcast.routing.router import (
    DUPLICATE,
    NOT_MINE,
    Dissemination,
    Drop,
    Footprint,
    Host,
    NodeId,
    Parameters,
    ProtocolTraits,
    Publication,
    Router,
)
from roamcast.routing.state.seen import Seen
from roamcast.routing.tpsr.conditions import LocalConditions
from roamcast.routing.tpsr.forwarding import Forwarding
from roamcast.routing.tpsr.messages import (
    MOST_FILTERS,
    UNKNOWN,
    JobAck,
    PampaEvent,
    Rescue,
    RoutedEvent,
    RouteSubscription,
    weaker,
)
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.routing.tpsr.renewal import Renewal
from roamcast.routing.tpsr.rescue import Rescues
from roamcast.routing.tpsr.retries import PendingJobs
from roamcast.routing.tpsr.route_table import SubscriberTable


class Tpsr(Router):
    """Router that floods subscriptions and sends publications along the resulting routes, with flooding as
    fallback."""

    shares_process = True
    main_parameters = (
        "renew",
        "expire",
        "last_hop",
        "ranking",
        "proactive",
        "local_repair",
        "subscription.target",
        "subscription.distance",
    )
    parameters_type = TpsrParameters
    parameters: TpsrParameters
    as_published = MappingProxyType({"repair_gap": "0 s", "reissue": "wanted"})
    live = MappingProxyType(
        {
            "renew": "5 s",
            "expire": "15 s",
            "proactive": False,  # no signal tells that a route is fragile
            "subscription.max_delay": "20 ms",
            "last_resort.max_delay": "20 ms",
        }
    )
    messages = (RouteSubscription, RoutedEvent, JobAck, PampaEvent, Rescue)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.table = SubscriberTable(host, p)
        self.conditions = LocalConditions(host)
        scale = self.conditions.scale if p.adaptive_delay else None
        self.subscription_floods: Pampa[tuple[NodeId, int]] = Pampa(
            host, p.subscription, self._repeat_subscription, self._drop_subscription, scale
        )
        self.event_floods: Pampa[PampaEvent] = Pampa(host, p.last_resort, host.broadcast, host.drop)
        self.handled = self.event_floods.done
        self.renewal = Renewal(host, p, self._flood_subscription)
        self.forwarding = Forwarding(
            host,
            p,
            self.table,
            abandon=self._abandon,
            strand=self._handle_broken_route,
            observe=self.conditions.observe,
        )
        self.rescues = Rescues(host, p, self.table, self.forwarding, self._flood)
        self.delivered = Seen(p.publication_limit)
        # Cached as attributes: every reception reads them.
        self._node = host.node
        self._adaptive = p.adaptive_delay
        self._repairs = p.local_repair
        self._subscribed = False
        "Whether other nodes may store a subscription of this node."
        self._handlers: dict[type, Callable[[Any, NodeId, float], Drop | None]] = {
            RoutedEvent: self._handle_event,
            PampaEvent: self._handle_flood,
            RouteSubscription: self._handle_subscription,
            JobAck: self._handle_ack,
            Rescue: self._handle_rescue,
        }

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return traits: events follow the routes set up by flooded subscriptions."""
        assert isinstance(parameters, TpsrParameters)
        return ProtocolTraits(travel=Dissemination.ROUTED, subscription_lease=parameters.expire)

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        floods = {
            f"{what}_{name}": size
            for what, pampa in (("subscription", self.subscription_floods), ("event", self.event_floods))
            for name, size in pampa.footprints().items()
        }
        delivered = len(self.delivered)
        return {
            "subscriptions": self.table.footprint(),
            "delivered": Footprint(delivered, 8 * delivered, self.parameters.publication_limit),
            "neighbours": self.conditions.footprint(),
            **floods,
            **self.forwarding.footprints(),
            **self.rescues.footprints(),
        }

    # Calls of the application.

    def subscribe(self, filter: Filter) -> None:
        """Subscribe, and flood the change at once."""
        super().subscribe(filter)
        self.renewal.on_change()

    def unsubscribe(self, filter: Filter) -> None:
        """Unsubscribe, and flood the change at once."""
        super().unsubscribe(filter)
        self.renewal.on_change()

    def publish(self, publication: Publication) -> None:
        """Send an event to all subscribers whose filters match it."""
        now = self.host.now()
        recipients = [n for n in self.table.matching(publication.event, now) if n != self.host.node]
        self.delivered.add(publication.id)
        if recipients:
            self.forwarding.publish(publication, recipients)
        else:
            lapsed = self.table.lapsed(publication.event, now)
            self.host.drop(RoutedEvent(publication), Drop.EXPIRED if lapsed else Drop.UNWANTED)

    # Messages of neighbours.

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Dispatch a message to its handler; a message from this node's own address is MALFORMED."""
        if sender == self._node:
            return Drop.MALFORMED
        if self._adaptive:
            self.conditions.hear(sender)
        return self._handlers[type(message)](message, sender, signal)

    def _handle_event(self, message: RoutedEvent, sender: NodeId, signal: float) -> Drop | None:
        self.forwarding.attempts.overhear(message, sender)
        if self._repairs:
            self.rescues.overhear(message, sender)
        node = self._node
        for job in message.jobs:
            if job.addressee == node:
                break
        else:
            return NOT_MINE
        got = self._deliver(message.publication)
        reason = self.forwarding.handle(message, job, sender, signal)
        if got is None and self.parameters.proactive and self.table.fragile(weaker(message.weakest, signal)):
            self.renewal.request_renewal(self.parameters.repair_gap)
        if reason is not None:
            return reason
        return got if job.recipients == {node} else None

    def _handle_flood(self, message: PampaEvent, sender: NodeId, signal: float) -> Drop | None:
        publication = message.publication
        if self.event_floods.record_copy(publication.id):
            return DUPLICATE
        # The flood replaces all pending retransmissions and rescues of this publication.
        self.forwarding.attempts.forget(publication.id)
        self.rescues.forget(publication.id)
        got = self._deliver(publication)
        if got is None or self._reissues_anyway(publication):
            self.renewal.request_renewal(self.parameters.repair_gap)
        if message.hops >= self.parameters.hop_limit:
            self.event_floods.begin(publication.id)
            return Drop.HOP_LIMIT
        self.event_floods.wait(publication.id, signal, PampaEvent(publication, message.hops + 1))
        return None

    def _handle_subscription(self, message: RouteSubscription, sender: NodeId, signal: float) -> Drop | None:
        node, subscriber, route = self._node, message.subscriber, message.route
        if sender != (route[-1] if route else subscriber):
            return Drop.MALFORMED
        if subscriber == node:
            self.renewal.on_own_serial(message.serial, self.parameters.repair_gap)
        if subscriber == node or node in route:
            return DUPLICATE
        now = self.host.now()
        flood = subscriber << 32 | message.serial
        weakest = weaker(message.weakest, signal)
        if not self.table.hear(message, weakest, flood, now):
            return DUPLICATE  # a newer one is known
        self.table.share(message, weakest, flood, now)
        if self.subscription_floods.record_copy(flood):
            return DUPLICATE
        if len(route) >= self.parameters.hop_limit:
            self.subscription_floods.begin(flood)
            return Drop.HOP_LIMIT
        self.subscription_floods.wait(flood, signal, (subscriber, message.serial))
        return None

    def _handle_ack(self, message: JobAck, sender: NodeId, signal: float) -> Drop | None:
        if message.to != self.host.node:
            return NOT_MINE
        self.forwarding.attempts.hear(message.id, sender)
        self.rescues.hear(message.id, sender)
        return None

    def _handle_rescue(self, message: Rescue, sender: NodeId, signal: float) -> Drop | None:
        if not self.parameters.local_repair or message.publication.id in self.event_floods.done:
            return NOT_MINE
        if self.host.node in message.recipients:
            self._deliver(message.publication)
        return self.rescues.handle(message, sender, signal)

    # Subscriptions.

    def _flood_subscription(self, serial: int) -> bool:
        """Flood all interests of this node; return whether there are any."""
        node, filters = self.host.node, tuple(dict.fromkeys(self.interests))
        if not filters and not self._subscribed:
            return False
        self._subscribed = bool(filters)
        message = RouteSubscription(node, serial, filters[:MOST_FILTERS], UNKNOWN)
        self.subscription_floods.begin(node << 32 | serial)
        self.host.state("renewals", float(serial))
        self.host.broadcast(message)
        if len(filters) > MOST_FILTERS:
            self.host.drop(message, Drop.TABLE_FULL)
        return bool(filters)

    def _repeat_subscription(self, flooded: tuple[NodeId, int]) -> None:
        message = self._onward(flooded)
        if message is not None:
            self.host.broadcast(message)

    def _drop_subscription(self, flooded: tuple[NodeId, int], reason: Drop) -> None:
        message = self._onward(flooded)
        if message is not None:
            self.host.drop(message, reason)

    def _onward(self, flooded: tuple[NodeId, int]) -> RouteSubscription | None:
        """Return the subscription with this node appended to the best route; None if a newer one is known."""
        subscriber, serial = flooded
        entry = self.table.leases.get(subscriber, self.host.now())
        if entry is None or entry.serial != serial:
            return None
        route = entry.route
        return RouteSubscription(
            subscriber, serial, entry.filters, route.weakest, (*reversed(route.hops[:-1]), self.host.node)
        )

    # Publications.

    def _deliver(self, publication: Publication) -> Drop | None:
        """Deliver a publication if an interest matches it; return the drop reason otherwise."""
        if not self.delivered.add(publication.id) or publication.publisher == self.host.node:
            return DUPLICATE
        if not self.matches(publication.event):
            return Drop.UNWANTED
        self.host.deliver(publication)
        return None

    def _reissues_anyway(self, publication: Publication) -> bool:
        """Return whether a flooded publication that was not delivered triggers a renewal."""
        reissue = self.parameters.reissue
        if reissue == "wanted":
            return publication.publisher != self._node and self.matches(publication.event)
        return reissue == "any"

    def _abandon(self, attempt: PendingJobs) -> None:
        """Handle jobs that no addressee accepted."""
        recipients = sorted(set().union(*attempt.jobs.values()))
        if self.parameters.local_repair:
            self.rescues.ask(attempt.publication, attempt.weakest, recipients, attempt.jobs.keys())
        else:
            self._flood(attempt.publication)

    def _handle_broken_route(
        self, publication: Publication, weakest: float, recipients: Collection[NodeId]
    ) -> None:
        """Handle recipients without a route."""
        if self.parameters.local_repair:
            senders = {self.forwarding.taken.sender(publication.id, each) for each in recipients}
            self.rescues.ask(publication, weakest, recipients, [n for n in senders if n is not None])
        else:
            self._flood(publication)

    def _flood(self, publication: Publication) -> None:
        """Flood a publication as the fallback."""
        self.forwarding.attempts.forget(publication.id)
        message = PampaEvent(publication)
        if self.event_floods.begin(publication.id):
            self.host.broadcast(message)
        else:  # already flooded
            self.host.drop(message, Drop.NO_ROUTE)
