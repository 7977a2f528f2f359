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
from roamcast.routing.clone.announcing import Announcing
from roamcast.routing.clone.community import Community, Self, Standing
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
from roamcast.routing.clone.principal import Asked, Cache
from roamcast.routing.clone.publishing import Publishing
from roamcast.routing.clone.search import Search
from roamcast.routing.clone.service import ServiceList
from roamcast.routing.clone.subs_table import SubsTable
from roamcast.routing.clone.wishes import Wishes
from roamcast.routing.router import (
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    Publication,
    Router,
    Traits,
    Travel,
)
from roamcast.routing.state.seen import Seen
from roamcast.routing.state.timing import call_every
from roamcast.routing.unicast.gpsr.gpsr import Gpsr
from roamcast.routing.unicast.gpsr.messages import GeoPacket, Place

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
    as_published: ClassVar[Mapping[str, Any] | None] = MappingProxyType({"gathering": "0 s"})
    delegates: bool = False
    "Whether who asks for what has been published is served at once."

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        p = self.parameters
        self.geo = Gpsr(host, p.gpsr, self)
        self.geo.make_beacon = self._make_beacon
        self.community = Community(host, p, self.describe, self.admit, self.vote_delay)
        self.ads = AdsTable(host, self.geo, self.community, p.advert_lease, p.ads)
        self.subs = SubsTable(p.wish_lease, p.subs)
        self.cache = Cache(p.cached)
        self.asked = Asked(p.renew, p.resubscribe, p.subs)
        self.services = ServiceList(p.service_lease, p.served)
        self.publishing = Publishing(self)
        self.announcing = Announcing(self)
        self.wishes = Wishes(self)
        self.search = Search(self)
        self.single: list[Filter] = []
        "What the application asks for once."
        self.delivered = Seen(REMEMBERED)
        self.passed = Seen(REMEMBERED)
        "Publications that went on to those whose wishes stand."
        self.handlers: dict[type, Callable[[Any, NodeId], Drop | None]] = {
            CommunityBeacon: self._take_beacon,
            ProviderAdvert: self.announcing.take,
            Vote: self._take_vote,
            Confirmation: self._take_confirmation,
            CommunityWish: self.wishes.take,
            Nearby: self.search.take_nearby,
            CommunityEvent: self._take_community_event,
            BranchEvent: self.publishing.take_branch,
        }

    # Who is whose principal.

    @abstractmethod
    def describe(self) -> Self:
        """This node as a candidate."""

    @abstractmethod
    def admit(self, place: Place) -> bool:
        """Whether a candidate at a place may be this node's principal."""

    @abstractmethod
    def vote_delay(self, weight: int) -> float:
        """How long a candidate waits before it votes."""

    def interest_set(self) -> frozenset[int]:
        """What this node tells of its interests."""
        return frozenset()

    def look_around(self) -> None:
        """See whether the community is still the right one; called with every beacon sent."""

    def meet_principal(self, standing: Standing) -> None:
        """Hear of a principal outside a construction."""

    # The life of a router.

    @classmethod
    def traits(cls, parameters: Parameters) -> Traits:
        """Events are sent to principals that asked; who asks again is given the same copy again."""
        assert isinstance(parameters, TwoTierParameters)
        return Traits(
            travel=Travel.ADDRESSED,
            once=False,
            wish_lease=parameters.wish_lease,
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
            **({"gathered": self.wishes.footprint()} if self.parameters.gathering else {}),
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
            self.wishes.ask(wanted, standing=True)

    def request(self, wanted: Filter) -> None:
        """Want one event that matches, new or old."""
        self.interests.append(wanted)
        self.single.append(wanted)
        self.note_request(wanted)
        self.wishes.ask(wanted, standing=False)

    def satisfied(self, wanted: Filter) -> None:
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

    def _make_beacon(self, here: Place) -> Message:
        self.community.refresh()
        self.look_around()
        c = self.community
        return CommunityBeacon(
            here, self.interest_set(), c.principal, c.weight, c.parent, c.hops, min(c.members(), 0xFFFF)
        )

    def _take_beacon(self, beacon: CommunityBeacon, sender: NodeId) -> Drop | None:
        now, community = self.host.now(), self.community
        self.geo.hear(sender, beacon.here, now)
        community.heard.renew(sender, beacon, now)
        if sender == community.parent:
            community.refresh()
        return None

    def _take_vote(self, vote: Vote, sender: NodeId) -> Drop | None:
        before = self.community.constructions
        answer = self.community.hear_vote(vote, sender)
        if self.community.constructions > before:
            self.announcing.heard = 0
        return answer

    def _take_confirmation(self, said: Confirmation, sender: NodeId) -> Drop | None:
        answer, standing = self.community.hear_confirmation(said, sender)
        if standing is not None:
            self.meet_principal(standing)
        return answer

    # Events.

    def _take_community_event(self, message: CommunityEvent, sender: NodeId) -> Drop | None:
        return self.hand_on(message.publication, sender)

    def take_content(self, publication: Publication) -> Drop | None:
        """Keep what has come from a provider, and serve those who wait for it."""
        self.cache.put(publication)
        return self.hand_on(publication, self.host.node)

    def hand_on(self, publication: Publication, sender: NodeId) -> Drop | None:
        """Deliver here if it is wanted, and send it to the members that wait for it."""
        first = self.passed.add(publication.id)
        children = self.subs.serve(publication.event, self.host.now(), standing=first)
        self.wishes.answered(publication.event)
        children = [child for child in children if child != sender]
        for child in children:
            self.host.send(CommunityEvent(publication), child)
        if self.deliver(publication) or children:
            return None
        return Drop.UNWANTED if first else Drop.DUPLICATE

    def deliver(self, publication: Publication) -> bool:
        """Give the application what it wants; say whether it did."""
        event = publication.event
        if publication.publisher == self.host.node or not self.wants(event):
            return False
        asked = any(wanted.matches(event) for wanted in self.single)
        if not self.delivered.add(publication.id) and not asked:
            return False
        self.host.deliver(publication)
        return True

    # What the geographic routing asks.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Take what is for this node, or look around for who is not where it was believed."""
        return self.search.take(message)

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Let it go: what is still wanted is asked for again."""
        return False

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Know nothing better."""
        return None

    def grow_older(self, message: Message, seconds: float) -> Message:
        """Stay as it is."""
        return message
