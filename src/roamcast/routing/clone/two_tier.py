"""Two-tier content-based routing: members, principals and providers (section II-B).

This is the common base of CLONE and grid-based CBR. Subclasses define how principals are elected.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.clone.ads_table import AdsTable
from roamcast.routing.clone.advertising import ProviderAdvertising
from roamcast.routing.clone.community import Community, KnownPrincipal, OwnVote
from roamcast.routing.clone.messages import (
    BranchEvent,
    CommunityBeacon,
    CommunityEvent,
    CommunityWish,
    Confirmation,
    Delegation,
    Nearby,
    ProviderAdvert,
    ProviderEvent,
    ProviderWish,
    Vote,
)
from roamcast.routing.clone.parameters import TwoTierParameters
from roamcast.routing.clone.principal import ProviderRequests, PublicationCache
from roamcast.routing.clone.provider import Provider
from roamcast.routing.clone.search import NodeSearch
from roamcast.routing.clone.service import ServiceList
from roamcast.routing.clone.subs_table import SubsTable
from roamcast.routing.clone.subscriptions import SubscriptionForwarding
from roamcast.routing.router import (
    Dissemination,
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
from roamcast.routing.state.timing import call_every
from roamcast.routing.unicast.gpsr.gpsr import Gpsr
from roamcast.routing.unicast.gpsr.messages import GeoPacket, PointCm
from roamcast.routing.unicast.gpsr.parameters import GREEDY_ALONE
from roamcast.routing.unicast.unicast import UnicastUser

REMEMBERED = 65536


class TwoTier(Router, UnicastUser):
    """Router of the two-tier scheme; every node may be a consumer, a principal and a provider."""

    parameters_type: ClassVar[type[Parameters]] = TwoTierParameters
    parameters: TwoTierParameters
    messages: ClassVar[tuple[type[Message], ...]] = (
        *(CommunityBeacon, ProviderAdvert, Vote, Confirmation, CommunityWish, ProviderWish, Nearby),
        *(ProviderEvent, CommunityEvent, Delegation, BranchEvent, GeoPacket),
    )
    needs_location = True
    as_published: ClassVar[Mapping[str, Any] | None] = MappingProxyType({"subscription_aggregation": "0 s"})
    live: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "advertise": "2 s",
            "advert_lease": "6 s",
            "adverts_per_construction": 2,
            "voting": "1 s",
            "confirmation_wait": "300 ms",
            "renew": "1 s",
            "subscription_lease": "3 s",
            "subscription_aggregation": "200 ms",
            "resubscribe": "2 s",
            "service_lease": "6 s",
        }
    )
    delegates: bool = False
    "Whether a late subscription is answered at once with a published event, possibly by a delegate."

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self._node = host.node
        self.geo = Gpsr(host, p.gpsr, self)
        self._receive_located = receive = self.geo.forwarding.receive
        self.shortcuts = {CommunityBeacon: receive, GeoPacket: receive}
        self.geo.make_beacon = self._make_beacon
        self.community = Community(
            host, p, self.describe, self.admit, self.vote_delay, forwarding=self.geo.forwarding
        )
        self.geo.beacon_of_followed = self.community.refresh
        self.ads = AdsTable(host, self.geo, self.community, p.advert_lease, p.adverts)
        self.subs = SubsTable(p.subscription_lease, p.subscriptions)
        self.cache = PublicationCache(p.cached_events)
        self.provider_requests = ProviderRequests(p.renew, p.resubscribe, p.subscriptions)
        self.services = ServiceList(p.service_lease, p.served_principals)
        self.publishing = Provider(self)
        self.announcing = ProviderAdvertising(self)
        self.forwarding = SubscriptionForwarding(self)
        self.search = NodeSearch(self)
        self.single: list[Filter] = []
        "Filters of the application's open requests."
        self.delivered = Seen(REMEMBERED)
        self.passed = Seen(REMEMBERED)
        "Publications that were forwarded to subscribers."
        self.handlers: dict[type, Callable[[Any, NodeId], Drop | None]] = {
            ProviderAdvert: self.announcing.handle,
            Vote: self._handle_vote,
            Confirmation: self._handle_confirmation,
            CommunityWish: self.forwarding.handle,
            Nearby: self.search.handle_nearby,
            CommunityEvent: self._handle_community_event,
            BranchEvent: self.publishing.handle_branch,
        }

    # Election of principals.

    @abstractmethod
    def describe(self) -> OwnVote:
        """Return this node's vote."""

    @abstractmethod
    def admit(self, place: PointCm) -> bool:
        """Return whether a candidate at a position may become this node's principal."""

    @abstractmethod
    def vote_delay(self, weight: int) -> float:
        """Return how long a candidate waits before it votes [s]."""

    def interest_set(self) -> frozenset[int]:
        """Return the interest set for this node's beacon."""
        return frozenset()

    def check_community(self) -> None:
        """Check whether this node should change its community; called before each beacon."""

    def on_principal(self, candidate: KnownPrincipal) -> None:
        """Handle a principal that confirmed outside a construction."""

    # Interface of a router.

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Return the traits: events are addressed to principals, and a repeated request gets a copy again."""
        assert isinstance(parameters, TwoTierParameters)
        return ProtocolTraits(
            travel=Dissemination.ADDRESSED,
            once=False,
            incomplete="" if parameters.gpsr.perimeter else GREEDY_ALONE,
            subscription_lease=parameters.subscription_lease,
            recall=parameters.service_lease,
            served_by="community",
        )

    def start(self) -> None:
        """Start beacons, advertisements and the renewal of subscriptions."""
        self.geo.start()
        self.host.state("community", float(self.host.node))
        call_every(self.host, self.parameters.renew, self.forwarding.renew)
        self.announcing.start()

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of each table."""
        delivered, passed = len(self.delivered), len(self.passed)
        return {
            **self.geo.tables(),
            **self.community.tables(),
            **self.services.footprint(),
            "ads": self.ads.footprint(),
            "subs": self.subs.footprint(),
            **({"gathered": self.forwarding.footprint()} if self.parameters.subscription_aggregation else {}),
            "cache": self.cache.footprint(),
            "asked": self.provider_requests.footprint(),
            "delivered": Footprint(delivered, 8 * delivered, REMEMBERED),
            "passed": Footprint(passed, 8 * passed, REMEMBERED),
        }

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the handler of its class, or to geographic routing."""
        kind = type(message)
        if kind is GeoPacket or kind is CommunityBeacon:
            return self._receive_located(message, sender, signal)
        handler = self.handlers.get(kind)
        if handler is None or sender == self._node:
            return Drop.MALFORMED
        return handler(message, sender)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Remove a neighbour after a link failure, and send the message by another route if there is one."""
        self.community.lose(to)
        self.geo.link_failed(message, to)
        if type(message) is CommunityWish:
            self.forwarding.failed(message, to)
        elif type(message) is BranchEvent:
            self.publishing.branch_failed(message)
        elif type(message) is not GeoPacket:
            self.host.drop(message, Drop.NO_ROUTE)

    # Calls of the application.

    def subscribe(self, filter: Filter) -> None:
        """Add a subscription, and send it to the principal."""
        new = filter not in self.interests
        super().subscribe(filter)
        if new:
            self.forwarding.subscribe(filter, standing=True)

    def request(self, filter: Filter) -> None:
        """Request one matching event, new or cached."""
        self.interests.append(filter)
        self.single.append(filter)
        self.note_request(filter)
        self.forwarding.subscribe(filter, standing=False)

    def cancel_request(self, filter: Filter) -> None:
        """Withdraw a request."""
        if filter in self.single:
            self.single.remove(filter)
        self.unsubscribe(filter)

    def note_request(self, filter: Filter) -> None:
        """Record a request as an interest of this node."""

    def advertise(self, filter: Filter) -> None:
        """Flood an advertisement with this node's position."""
        self.announcing.advertise(filter)

    def publish(self, publication: Publication) -> None:
        """Send an event to every subscribed principal."""
        self.cache.put(publication)
        self.publishing.publish(publication)

    # Communities.

    def _make_beacon(self, here: PointCm) -> Message:
        self.community.refresh()
        self.check_community()
        c = self.community
        return CommunityBeacon(
            here, self.interest_set(), c.principal, c.weight, c.parent, c.hops, min(c.members(), 0xFFFF)
        )

    def _handle_vote(self, vote: Vote, sender: NodeId) -> Drop | None:
        before = self.community.constructions
        answer = self.community.hear_vote(vote, sender)
        if self.community.constructions > before:
            self.announcing.heard = 0
        return answer

    def _handle_confirmation(self, confirmation: Confirmation, sender: NodeId) -> Drop | None:
        answer, candidate = self.community.hear_confirmation(confirmation, sender)
        if candidate is not None:
            self.on_principal(candidate)
        return answer

    # Events.

    def _handle_community_event(self, message: CommunityEvent, sender: NodeId) -> Drop | None:
        return self.forward_event(message.publication, sender)

    def handle_content(self, publication: Publication) -> Drop | None:
        """Cache a publication from a provider, and forward it to waiting members."""
        self.cache.put(publication)
        return self.forward_event(publication, self.host.node)

    def forward_event(self, publication: Publication, sender: NodeId) -> Drop | None:
        """Deliver a publication if it matches the interests, and send it to waiting neighbours."""
        first = self.passed.add(publication.id)
        children = self.subs.serve(publication.event, self.host.now(), standing=first)
        self.forwarding.forget_answered(publication.event)
        children = [child for child in children if child != sender]
        for child in children:
            self.host.send(CommunityEvent(publication), child)
        if self.deliver(publication) or children:
            return None
        return Drop.UNWANTED if first else Drop.DUPLICATE

    def deliver(self, publication: Publication) -> bool:
        """Deliver a matching publication to the application; return whether it was delivered."""
        event = publication.event
        if publication.publisher == self.host.node or not self.matches(event):
            return False
        requested = any(filter.matches(event) for filter in self.single)
        if not self.delivered.add(publication.id) and not requested:
            return False
        self.host.deliver(publication)
        return True

    # Callback of geographic routing; undeliverable messages are dropped, since requests are renewed.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Handle a message for this node, or search for its target nearby."""
        return self.search.handle(message)
