"""Pub/Sub ODMRP: members join by content, and publishers compute the multicast groups."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.odmrp.forwarding_group import ForwardingGroup
from roamcast.routing.odmrp.link_expiry import RefreshInterval
from roamcast.routing.odmrp.mesh_router import MeshRouter
from roamcast.routing.odmrp.pubsub.clients import Clients
from roamcast.routing.odmrp.pubsub.groups import UNASSIGNED, PublisherGroups
from roamcast.routing.odmrp.pubsub.membership import Membership
from roamcast.routing.odmrp.pubsub.messages import (
    ClientEvent,
    ClientWish,
    ContentRequest,
    EventRequest,
    GroupEvent,
    GroupJoin,
    SourceJoins,
    SummaryTable,
)
from roamcast.routing.odmrp.pubsub.parameters import AS_PUBLISHED, PubSubParameters
from roamcast.routing.odmrp.pubsub.queries import PublisherQueries
from roamcast.routing.odmrp.pubsub.remote_subscriptions import is_valid, may_match
from roamcast.routing.router import (
    DUPLICATE,
    NOT_MINE,
    Drop,
    Footprint,
    Host,
    NodeId,
    Parameters,
    Publication,
    Timer,
)
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.dsdv.dsdv import Dsdv

GRACE = 1.5
"Refresh intervals before a join request without event, so that one with an event can come first."


class PubSubOdmrp(MeshRouter):
    """Pub/Sub ODMRP: content queries in join requests, subscriptions in join tables, groups per publisher."""

    shares_process = True
    main_parameters = (
        "grouping",
        "clusters",
        "conversion",
        "forwarding_filter",
        "summary_bytes",
        "refresh",
        "timeout",
        "query_content",
    )
    parameters_type = PubSubParameters
    parameters: PubSubParameters
    as_published = AS_PUBLISHED
    live = MappingProxyType(
        {
            "refresh": "1 s",
            "timeout": "4 s",
            "reply_delay": "50 ms",
            "answer_every": "2 s",
            "spread": "100 ms",
            "client_lease": "10 s",
        }
    )
    messages = (
        *(ContentRequest, EventRequest, SummaryTable, GroupEvent, ClientWish, ClientEvent),
        *Dsdv.messages,
    )

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.group: ForwardingGroup[tuple[NodeId, int]] = ForwardingGroup(host, p.timeout, p.groups)
        "Flags by source and group."
        self.membership = Membership(host, p)
        self.groups = PublisherGroups(p)
        self.queries = PublisherQueries(p)
        self.interval = RefreshInterval(p)
        self.clients = self._clients() if p.clients_per_broker > 1 else None
        self._flooded_at = -1.0
        "Time of this node's last join request [s]; -1: none."
        self._active_at = -1.0
        "Time at which the application last published or advertised [s]; -1: never."
        self._next_request: Timer | None = None
        self._first_request: Timer | None = None
        self._ready_at = 0.0
        "Time at which the publisher has converted all its events [s]."
        self._acknowledged: dict[GroupJoin, None] = {}
        self._handlers = {
            GroupEvent: self._handle_event,
            EventRequest: self._handle_event_request,
            ContentRequest: self._handle_request,
            SummaryTable: self._handle_table,
        }

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        return {
            **self.membership.tables(),
            "forwarding_group": self.group.footprint(6),
            "members": self.groups.footprint(),
            **super().tables(),
            **(self.clients.tables() if self.clients is not None else {}),
        }

    # Calls of the application.

    def start(self) -> None:
        """Start the unicast protocol, if brokers have clients."""
        if self.clients is not None:
            self.clients.start()

    def advertise(self, filter: Filter) -> None:
        """Add an advertisement; in advertisement mode, send a query for its subscribers."""
        self.groups.publishes(filter.type)
        if filter not in self.queries.advertised:
            self.queries.advertise(filter)
        if self.parameters.query_content == "advertisement" and self._is_broker:
            self._active_at = self.host.now()
            if self._first_request is None or not self._first_request.active:
                self._first_request = call_within(self.host, self.parameters.spread, self._request)

    def subscribe(self, filter: Filter) -> None:
        """Add a subscription, and send it at once to publishers with recent queries."""
        super().subscribe(filter)
        self._update_broker()

    def unsubscribe(self, filter: Filter) -> None:
        """Remove a subscription."""
        super().unsubscribe(filter)
        self._update_broker()

    def publish(self, publication: Publication) -> None:
        """Send an event to its subscribers, through the broker if this node is a client."""
        self.delivered.add(publication.id)
        if self.clients is not None and not self._is_broker:
            self.clients.send(publication)
        else:
            self._publish(publication)

    # Events.

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the handler of its class, or to the unicast protocol."""
        if sender == self.host.node:
            return Drop.MALFORMED
        handle = self._handlers.get(type(message))
        if handle is not None:
            return handle(message, sender)
        if self.clients is None or isinstance(message, ClientWish | ClientEvent):
            return NOT_MINE
        return self.clients.receive(message, sender, signal)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Pass a link failure to the unicast protocol."""
        if self.clients is not None:
            self.clients.unicast.link_failed(message, to)

    def _publish(self, publication: Publication) -> None:
        """Publish an event of this broker or of a client, after its conversion."""
        self.groups.publishes(publication.event.type)
        if publication.publisher != self.host.node:
            self._deliver(publication)
        elif self.clients is not None:
            self.clients.send_event(publication)
        conversion = self.parameters.conversion
        if conversion:
            now = self.host.now()
            self._ready_at = max(now, self._ready_at) + conversion
            self.host.call_later(self._ready_at - now, self._emit, publication)
        else:
            self._emit(publication)

    def _emit(self, publication: Publication) -> None:
        """Send an event to its groups, or with a join request if one is due or no query covered the event."""
        now, p, event = self.host.now(), self.parameters, publication.event
        self._active_at = now
        due = self._flooded_at < 0 or now - self._flooded_at >= self.interval.seconds()
        known_at = now if p.unqueried_events == "known" else self._known_at(event, now)
        if not due and known_at <= now:
            self.queries.note(event)
            self._send_to_groups(publication)
        elif p.piggyback:
            self._request(publication)
        elif not due and known_at < inf:
            self.host.call_later(known_at - now, self._send_to_groups, publication)
        else:
            self._request(None, publication)
            self.host.call_later(p.round_trip, self._send_to_groups, publication)

    def _known_at(self, event: Event, now: float) -> float:
        """Return the time from which all subscribers of an event are known [s]; infinite if unqueried."""
        return max(self.queries.known_at(event, now), self.groups.newcomer_at + self.parameters.settling_time)

    def _send_to_groups(self, publication: Publication) -> None:
        now = self.host.now()
        self._follow(now)
        groups = self.groups.targets(publication.event, now)
        if not groups:
            nowhere = GroupEvent(self.host.node, self._numbers.take(), frozenset((UNASSIGNED,)), publication)
            self.host.drop(nowhere, Drop.UNWANTED)
        together = [groups] if groups and self.parameters.combine else [[group] for group in groups]
        for some in together:
            named = frozenset(some[:255])
            self._originate(GroupEvent(self.host.node, self._numbers.take(), named, publication), named)

    def _handle_event(self, message: GroupEvent, sender: NodeId) -> Drop | None:
        source = message.source
        if not self._is_new(source, message.packet):
            return DUPLICATE
        outcome = self._deliver(message.publication)
        if outcome is Drop.UNWANTED and self.membership.joined(source, message.groups):
            self.noise.increment()
        now = self.host.now()
        forwarded = [group for group in message.groups if self.group.forwards((source, group), now)]
        if forwarded and (not self.parameters.forwarding_filter or self._matches_below(message, forwarded)):
            self._repeat(message)
            return None
        if outcome is Drop.UNWANTED and not forwarded:
            lapsed = any(self.group.expired((source, group), now) for group in message.groups)
            return Drop.EXPIRED if lapsed else outcome
        return outcome

    def _matches_below(self, message: GroupEvent, groups: list[int]) -> bool:
        """Return whether a downstream subscription may match the event; an unknown one may."""
        event = message.publication.event
        return any(
            each is None or may_match(each, event)
            for group in groups
            for each in self.membership.below(message.source, group)
        )

    def _deliver(self, publication: Publication) -> Drop | None:
        """Deliver an event here and to matching clients, once; otherwise return the reason of the drop."""
        subscribed = publication.publisher != self.host.node and self.matches(publication.event)
        if subscribed and not self.delivered.add(publication.id):
            return DUPLICATE
        if subscribed:
            self.host.deliver(publication)
        if self.clients is not None and self._is_broker:
            if subscribed or self.delivered.add(publication.id):
                subscribed = self.clients.send_event(publication) or subscribed
            else:
                return DUPLICATE
        return None if subscribed else Drop.UNWANTED

    # Join requests.

    def _request(self, publication: Publication | None = None, about: Publication | None = None) -> None:
        """Flood a join request that carries or queries an event; in advertisement mode, schedule the next."""
        now, me = self.host.now(), self.host.node
        carried = publication or about
        self._follow(now)
        event = None if carried is None else carried.event
        if event is not None:
            self.groups.following.trigger(event)
        queries = self.queries.due_queries(event, publication is not None, now)
        roster, motion = self.groups.roster(now), self.expiry.motion()
        self._flooded_at = now
        self.interval.flooded()
        if publication is not None:
            self._originate(EventRequest(me, self._numbers.take(), 0, publication, queries, roster, motion))
        else:
            self._originate(ContentRequest(me, self._numbers.take(), 0, queries, roster, motion))
        if self.parameters.query_content == "advertisement":
            self._schedule_request()

    def _schedule_request(self) -> None:
        if self._next_request is not None:
            self._next_request.cancel()
        wait = GRACE * self.interval.seconds()
        self._next_request = self.host.call_later(wait, self._request_again)

    def _request_again(self) -> None:
        """Send another join request if the application was active within `timeout`."""
        self._next_request = None
        if self.host.now() - self._active_at < self.parameters.timeout:
            self._request()

    def _follow(self, now: float) -> None:
        self.groups.follow(now)
        self.in_use.set(self.groups.count())

    def _learn(self, message: ContentRequest | EventRequest, sender: NodeId, lifetime: int | None) -> None:
        """Pass a join request to the member's role; a carried event is a query, too."""
        queries = message.queries
        if isinstance(message, EventRequest):
            queries = (*queries, message.publication.event)
        self.membership.hear_request(message, queries, sender, lifetime)

    # Join tables.

    def _handle_table(self, message: SummaryTable, sender: NodeId) -> Drop | None:
        me, membership = self.host.node, self.membership
        mine = False
        for source, next_hop, joins in message.sources:
            membership.overhear(sender, source, joins)
            if next_hop == me:
                mine = True
        if not mine:
            return NOT_MINE
        if not all(map(is_valid, message.subscriptions)):
            return Drop.MALFORMED
        subscriptions = {each.broker: each for each in message.subscriptions}
        for source, next_hop, joins in message.sources:
            if next_hop != me:
                continue
            if source == me:
                self._hear_members(joins, subscriptions, message.lifetime)
            elif membership.reaches(source):
                for join in joins:
                    if join.broker != me:
                        self.group.join((source, join.group))
                        membership.pass_on(source, join, subscriptions.get(join.broker))
        return None

    def _hear_members(
        self, joins: tuple[GroupJoin, ...], subscriptions: Mapping[NodeId, Any], lifetime: tuple[int, ...]
    ) -> None:
        """Record, as the publisher, the joins and subscriptions, and schedule their acknowledgement."""
        now = self.host.now()
        self.interval.hear(lifetime)
        if not self._acknowledged:
            call_within(self.host, self.parameters.reply_jitter, self._acknowledge)
        for join in joins:
            if join.broker != self.host.node:
                self.groups.hear(join, subscriptions.get(join.broker), now)
            if len(self._acknowledged) < 255:
                self._acknowledged[join] = None

    def _acknowledge(self) -> None:
        joins, self._acknowledged = tuple(self._acknowledged), {}
        self.host.broadcast(SummaryTable((SourceJoins(self.host.node, self.host.node, joins),)))

    # Brokers and clients.

    @property
    def _is_broker(self) -> bool:
        return self.clients is None or self.clients.broker == self.host.node

    def _clients(self) -> Clients:
        return Clients(
            self.host,
            self.parameters,
            interests=lambda: self.interests,
            changed=self._update_broker,
            publish=self._publish,
            deliver=self._deliver,
        )

    def _update_broker(self) -> None:
        """Pass the current subscriptions to this broker, or send them to the broker of this client."""
        if self.clients is None:
            self.membership.set_subscriptions(self.interests)
        elif self._is_broker:
            self.membership.set_subscriptions([*self.interests, *self.clients.filters()])
        else:
            self.clients.send_subscriptions()
