"""Two-tier content-based routing: members ask principals, principals ask providers by place (section II-B).

What CLONE and grid-based CBR have in common. Who is whose principal is decided by the child classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
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

REMEMBERED = 65536


class TwoTier(Router):
    """Consumers, principals and providers; every node may be all of them."""

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
    "Whether who asks for what has been published is served at once."

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.geo = Gpsr(host, p.gpsr, self)
        self.geo.make_beacon = self._make_beacon
        self.community = Community(host, p, self.describe, self.admit, self.vote_delay)
        self.ads = AdsTable(host, self.geo, self.community, p.advert_lease, p.adverts)
        self.subs = SubsTable(p.subscription_lease, p.subscriptions)
        self.cache = PublicationCache(p.cached_events)
        self.asked = ProviderRequests(p.renew, p.resubscribe, p.subscriptions)
        self.services = ServiceList(p.service_lease, p.served_principals)
        self.publishing = Provider(self)
        self.announcing = ProviderAdvertising(self)
        self.wishes = SubscriptionForwarding(self)
        self.search = NodeSearch(self)
        self.single: list[Filter] = []
        "What the application asks for once."
        self.delivered = Seen(REMEMBERED)
        self.passed = Seen(REMEMBERED)
        "Publications that went on to those whose wishes stand."
        self.handlers: dict[type, Callable[[Any, NodeId], Drop | None]] = {
            CommunityBeacon: self._handle_beacon,
            ProviderAdvert: self.announcing.handle,
            Vote: self._handle_vote,
            Confirmation: self._handle_confirmation,
            CommunityWish: self.wishes.handle,
            Nearby: self.search.handle_nearby,
            CommunityEvent: self._handle_community_event,
            BranchEvent: self.publishing.handle_branch,
        }

    # Who is whose principal.

    @abstractmethod
    def describe(self) -> OwnVote:
        """This node as a candidate."""

    @abstractmethod
    def admit(self, place: PointCm) -> bool:
        """Whether a candidate at a place may be this node's principal."""

    @abstractmethod
    def vote_delay(self, weight: int) -> float:
        """How long a candidate waits before it votes."""

    def interest_set(self) -> frozenset[int]:
        """What this node tells of its interests."""
        return frozenset()

    def check_community(self) -> None:
        """See whether the community is still the right one; called with every beacon sent."""

    def on_principal(self, standing: KnownPrincipal) -> None:
        """Hear of a principal outside a construction."""

    # The life of a router.

    @classmethod
    def traits(cls, parameters: Parameters) -> ProtocolTraits:
        """Events are sent to principals that asked; who asks again is given the same copy again."""
        assert isinstance(parameters, TwoTierParameters)
        return ProtocolTraits(
            travel=Dissemination.ADDRESSED,
            once=False,
            subscription_lease=parameters.subscription_lease,
            recall=parameters.service_lease,
            served_by="community",
        )

    def start(self) -> None:
        """Begin to beacon, to advertise and to ask again."""
        self.geo.start()
        self.host.state("community", float(self.host.node))
        call_every(self.host, self.parameters.renew, self.wishes.renew)
        self.announcing.start()

    def tables(self) -> Mapping[str, Footprint]:
        """The size of each table."""
        delivered, passed = len(self.delivered), len(self.passed)
        return {
            **self.geo.tables(),
            **self.community.tables(),
            **self.services.footprint(),
            "ads": self.ads.footprint(),
            "subs": self.subs.footprint(),
            **({"gathered": self.wishes.footprint()} if self.parameters.subscription_aggregation else {}),
            "cache": self.cache.footprint(),
            "asked": self.asked.footprint(),
            "delivered": Footprint(delivered, 8 * delivered, REMEMBERED),
            "passed": Footprint(passed, 8 * passed, REMEMBERED),
        }

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Hand the message to its handler, or to the geographic routing below."""
        kind = type(message)
        if kind is GeoPacket:
            return self.geo.receive(message, sender, signal)
        handler = self.handlers.get(kind)
        if handler is None or sender == self.host.node:
            return Drop.MALFORMED
        return handler(message, sender)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Take a neighbour for gone; what was for it goes another way, if there is one."""
        self.community.lose(to)
        self.geo.link_failed(message, to)
        if type(message) is CommunityWish:
            self.wishes.failed(message, to)
        elif type(message) is BranchEvent:
            self.publishing.branch_failed(message)
        elif type(message) is not GeoPacket:
            self.host.drop(message, Drop.NO_ROUTE)

    # What the application asks.

    def subscribe(self, wanted: Filter) -> None:
        """Want all that matches, and say so."""
        new = wanted not in self.interests
        super().subscribe(wanted)
        if new:
            self.wishes.subscribe(wanted, standing=True)

    def request(self, wanted: Filter) -> None:
        """Want one event that matches, new or old."""
        self.interests.append(wanted)
        self.single.append(wanted)
        self.note_request(wanted)
        self.wishes.subscribe(wanted, standing=False)

    def cancel_request(self, wanted: Filter) -> None:
        """Ask no more."""
        if wanted in self.single:
            self.single.remove(wanted)
        self.unsubscribe(wanted)

    def note_request(self, wanted: Filter) -> None:
        """Remember what this node is interested in."""

    def advertise(self, offered: Filter) -> None:
        """Tell everyone what will be published here, and where that is."""
        self.announcing.offer(offered)

    def publish(self, publication: Publication) -> None:
        """Send an event to every principal that asked for it."""
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

    def _handle_beacon(self, beacon: CommunityBeacon, sender: NodeId) -> Drop | None:
        now, community = self.host.now(), self.community
        self.geo.hear(sender, beacon.here, now)
        community.heard.renew(sender, beacon, now)
        if sender == community.parent:
            community.refresh()
        return None

    def _handle_vote(self, vote: Vote, sender: NodeId) -> Drop | None:
        before = self.community.constructions
        answer = self.community.hear_vote(vote, sender)
        if self.community.constructions > before:
            self.announcing.heard = 0
        return answer

    def _handle_confirmation(self, said: Confirmation, sender: NodeId) -> Drop | None:
        answer, standing = self.community.hear_confirmation(said, sender)
        if standing is not None:
            self.on_principal(standing)
        return answer

    # Events.

    def _handle_community_event(self, message: CommunityEvent, sender: NodeId) -> Drop | None:
        return self.forward_event(message.publication, sender)

    def handle_content(self, publication: Publication) -> Drop | None:
        """Keep what has come from a provider, and serve those who wait for it."""
        self.cache.put(publication)
        return self.forward_event(publication, self.host.node)

    def forward_event(self, publication: Publication, sender: NodeId) -> Drop | None:
        """Deliver here if it is wanted, and send it to the members that wait for it."""
        first = self.passed.add(publication.id)
        children = self.subs.serve(publication.event, self.host.now(), standing=first)
        self.wishes.forget_answered(publication.event)
        children = [child for child in children if child != sender]
        for child in children:
            self.host.send(CommunityEvent(publication), child)
        if self.deliver(publication) or children:
            return None
        return Drop.UNWANTED if first else Drop.DUPLICATE

    def deliver(self, publication: Publication) -> bool:
        """Give the application what it wants; say whether it did."""
        event = publication.event
        if publication.publisher == self.host.node or not self.matches(event):
            return False
        asked = any(wanted.matches(event) for wanted in self.single)
        if not self.delivered.add(publication.id) and not asked:
            return False
        self.host.deliver(publication)
        return True

    # What the geographic routing asks.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Take what is for this node, or look around for who is not where it was believed."""
        return self.search.handle(message)

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Let it go: what is still wanted is asked for again."""
        return False

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Know nothing better."""
        return None

    def add_age(self, message: Message, seconds: float) -> Message:
        """Stay as it is."""
        return message
