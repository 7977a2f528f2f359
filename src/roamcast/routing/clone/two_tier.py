"""Two-tier content-based routing: members ask principals, principals ask providers by place (section II-B).

What CLONE and grid-based CBR have in common. Who is whose principal is decided by the child classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from roamcast.content.filter import Filter
from roamcast.routing.clone.ads_table import AdsTable
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
from roamcast.routing.clone.service import ServiceList
from roamcast.routing.clone.subs_table import SubsTable
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
from roamcast.routing.state.timing import call_every, call_within
from roamcast.routing.unicast.gpsr.gpsr import Gpsr
from roamcast.routing.unicast.gpsr.messages import GeoPacket, Place

REMEMBERED = 65536
HIGHEST_SERIAL = 2**32 - 1
SEARCH = 3
"Hops of a local search: the broadcast, and over two more to who has moved (figure 2)."
AT_ONCE = 1.0
"Seconds within which a provider that was not known is asked."
ESTIMATE = 16
"More hops than any wish needs to its principal."


class TwoTier(Router):
    """Consumers, principals and providers; every node may be all of them."""

    parameters_type: ClassVar[type[Parameters]] = TwoTierParameters
    parameters: TwoTierParameters
    messages: ClassVar[tuple[type[Message], ...]] = (
        *(CommunityBeacon, ProviderAdvert, Vote, Confirmation, CommunityWish, ProviderWish, Nearby),
        *(ProviderEvent, CommunityEvent, Delegation, BranchEvent, GeoPacket),
    )
    needs_location = True
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
        self.single: list[Filter] = []
        "What the application asks for once."
        self.offered: list[Filter] = []
        self.serial = 0
        self.adverts_heard = 0
        self.delivered = Seen(REMEMBERED)
        self.passed = Seen(REMEMBERED)
        "Publications that went on to those whose wishes stand."
        self.handlers: dict[type, Callable[[Any, NodeId], Drop | None]] = {
            CommunityBeacon: self._take_beacon,
            ProviderAdvert: self._take_advert,
            Vote: self._take_vote,
            Confirmation: self._take_confirmation,
            CommunityWish: self._take_wish,
            Nearby: self._take_nearby,
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
        )

    def start(self) -> None:
        """Begin to beacon, to advertise and to ask again."""
        self.geo.start()
        self.host.state("community", float(self.host.node))
        call_every(self.host, self.parameters.renew, self._renew)
        self.host.call_later(self.host.random.random() * self.parameters.advertise, self._advertise)

    def tables(self) -> Mapping[str, Footprint]:
        """The size of each table."""
        delivered, passed = len(self.delivered), len(self.passed)
        return {
            **self.geo.tables(),
            **self.community.tables(),
            **self.services.footprint(),
            "ads": self.ads.footprint(),
            "subs": self.subs.footprint(),
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
        return Drop.MALFORMED if handler is None or sender == self.host.node else handler(message, sender)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Take a neighbour for gone; what was for it goes another way, if there is one."""
        self.community.lose(to)
        self.geo.link_failed(message, to)
        if type(message) is CommunityWish:
            hop = self.community.next_hop()
            if hop is None or hop == to:
                self.host.drop(message, Drop.NO_ROUTE)
            else:
                self.host.send(message, hop)
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
            self._ask(wanted, standing=True)

    def request(self, wanted: Filter) -> None:
        """Want one event that matches, new or old."""
        self.interests.append(wanted)
        self.single.append(wanted)
        self.note_request(wanted)
        self._ask(wanted, standing=False)

    def satisfied(self, wanted: Filter) -> None:
        """Ask no more."""
        if wanted in self.single:
            self.single.remove(wanted)
        self.unsubscribe(wanted)

    def note_request(self, wanted: Filter) -> None:
        """Remember what this node is interested in."""

    def advertise(self, offered: Filter) -> None:
        """Tell everyone what will be published here, and where that is."""
        if offered not in self.offered:
            self.offered.append(offered)
            self._say_offers([offered])

    def publish(self, publication: Publication) -> None:
        """Send an event to every principal that asked for it."""
        self.cache.put(publication)
        self.publishing.publish(publication)

    def _renew(self) -> None:
        """Ask again for what is wanted and has not come."""
        for wanted in dict.fromkeys(self.interests):
            standing = self.interests.count(wanted) > self.single.count(wanted)
            self._ask(wanted, standing=standing)
        now = self.host.now()
        if self.community.is_principal:
            for pattern in self.subs.patterns(now):
                if self.asked.due(pattern, self.cache.newest(pattern) is not None, now):
                    self._ask_providers(pattern)

    def _ask(self, wanted: Filter, *, standing: bool) -> None:
        hop = self.community.next_hop()
        if hop is None:
            self._serve(self.host.node, wanted, new=not standing)
        else:
            self.host.send(CommunityWish(wanted, standing, 1), hop)

    # Advertisements.

    def _advertise(self) -> None:
        """Advertise at times that are drawn, so that providers do not march in step."""
        if self.offered:
            self._say_offers(self.offered)
        self.host.call_later(self.parameters.advertise * (0.5 + self.host.random.random()), self._advertise)

    def _say_offers(self, patterns: Collection[Filter]) -> None:
        self.serial = min(self.serial + 1, HIGHEST_SERIAL)
        here, incarnation = self.geo.here(), self.host.incarnation
        for pattern in patterns:
            self.host.broadcast(ProviderAdvert(self.host.node, pattern, here, self.serial, incarnation, 0))
        self._count_advert()

    def _take_advert(self, advert: ProviderAdvert, sender: NodeId) -> Drop | None:
        if advert.provider == self.host.node:
            # An echo. A serial not reached yet is of an earlier incarnation, and must be outdone.
            if self.serial < advert.serial <= HIGHEST_SERIAL // 2:
                self.serial = advert.serial
            return Drop.DUPLICATE
        if advert.hops + 1 >= self.parameters.hop_limit:
            return Drop.HOP_LIMIT
        unheard_of = (advert.provider, advert.pattern) not in self.ads.leases
        refused = self.ads.hear(advert, sender)
        if refused is None:
            if unheard_of:
                call_within(self.host, AT_ONCE, self._ask_new, advert.provider, advert.pattern)
            onward = ProviderAdvert(
                advert.provider,
                advert.pattern,
                advert.place,
                advert.serial,
                advert.incarnation,
                advert.hops + 1,
            )
            call_within(self.host, self.parameters.jitter, self.host.broadcast, onward)
            self._count_advert()
        return refused

    def _count_advert(self) -> None:
        self.adverts_heard += 1
        if self.adverts_heard >= self.parameters.adverts_per_construction and self.community.construct():
            self.adverts_heard = 0

    # Communities.

    def _make_beacon(self, here: Place) -> Message:
        self.community.refresh()
        self.look_around()
        c = self.community
        return CommunityBeacon(
            here, self.interest_set(), c.principal, c.weight, c.parent, c.hops, min(c.members(), 0xFFFF)
        )

    def _take_beacon(self, beacon: CommunityBeacon, sender: NodeId) -> Drop | None:
        self.geo.hear(sender, beacon.here)
        self.community.hear_beacon(beacon, sender)
        return None

    def _take_vote(self, vote: Vote, sender: NodeId) -> Drop | None:
        before = self.community.constructions
        answer = self.community.hear_vote(vote, sender)
        if self.community.constructions > before:
            self.adverts_heard = 0
        return answer

    def _take_confirmation(self, said: Confirmation, sender: NodeId) -> Drop | None:
        answer, standing = self.community.hear_confirmation(said, sender)
        if standing is not None:
            self.meet_principal(standing)
        return answer

    # Wishes.

    def _take_wish(self, wish: CommunityWish, sender: NodeId) -> Drop | None:
        """Remember who waits; pass the wish on to the principal, or be that and serve it."""
        new = self.subs.hear(sender, wish.pattern, wish.standing, self.host.now())
        hop = self.community.next_hop()
        if hop is None:
            self._serve(sender, wish.pattern, new=new or not wish.standing)
        elif wish.hops >= ESTIMATE:
            return Drop.HOP_LIMIT
        elif hop == sender:
            return Drop.NO_ROUTE
        else:
            self.host.send(CommunityWish(wish.pattern, wish.standing, wish.hops + 1), hop)
        return None

    def _serve(self, child: NodeId, wanted: Filter, *, new: bool) -> None:
        """Answer a wish from the cache, or have whoever asked wait and ask the providers."""
        copy = self.cache.newest(wanted)
        if self.asked.due(wanted, copy is not None, self.host.now()):
            self._ask_providers(wanted)
        if copy is None or not new:
            return
        if child == self.host.node:
            self._deliver(copy)
        else:
            self.subs.serve(copy.event, self.host.now(), standing=False)
            self.host.send(CommunityEvent(copy), child)

    def _ask_providers(self, wanted: Filter, only: NodeId | None = None) -> None:
        """Ask by place whoever may have it; who is a provider itself has it in the cache."""
        here, radius = self.geo.here(), int(self.parameters.radius)
        for provider, place in sorted(self.ads.offering(wanted).items()):
            if only is not None and provider != only:
                continue
            wish = ProviderWish(provider, wanted, self.host.node, here)
            self.geo.send_to(wish, provider, place, radius)
        if any(offered.intersects(wanted) for offered in self.offered):
            self.services.hear(self.host.node, wanted, here, self.host.now())

    def _ask_new(self, provider: NodeId, offered: Filter) -> None:
        """Ask a provider that has just been heard of for what is waited for."""
        if self.community.next_hop() is not None:
            return
        waited = dict.fromkeys([*self.interests, *self.subs.patterns(self.host.now())])
        for wanted in waited:
            if offered.intersects(wanted):
                self._ask_providers(wanted, provider)

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
        children = [child for child in children if child != sender]
        for child in children:
            self.host.send(CommunityEvent(publication), child)
        if self._deliver(publication) or children:
            return None
        return Drop.UNWANTED if first else Drop.DUPLICATE

    def _deliver(self, publication: Publication) -> bool:
        event = publication.event
        if publication.publisher == self.host.node or not self.wants(event):
            return False
        asked = any(wanted.matches(event) for wanted in self.single)
        if not self.delivered.add(publication.id) and not asked:
            return False
        self.host.deliver(publication)
        return True

    # What the geographic routing asks, and the search for who has moved.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Take what is for this node; look around for who is not where it was believed."""
        target = _target(message)
        if target is None:
            return Drop.MALFORMED
        if target == self.host.node:
            return self._take_addressed(message)
        hop = self.ads.next_hop(target)
        if hop is None:
            self.host.broadcast(Nearby(target, SEARCH, message))
        else:
            self.host.send(Nearby(target, SEARCH, message), hop)
        return None

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Let it go: what is still wanted is asked for again."""
        return False

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Know nothing better."""
        return None

    def grow_older(self, message: Message, seconds: float) -> Message:
        """Stay as it is."""
        return message

    def _take_nearby(self, near: Nearby, sender: NodeId) -> Drop | None:
        if _target(near.payload) != near.target:
            return Drop.MALFORMED
        if near.target == self.host.node:
            return self._take_addressed(near.payload)
        if near.hops <= 1:
            return Drop.HOP_LIMIT
        hop = self.ads.next_hop(near.target)
        if hop is None or hop == sender:
            return Drop.NOT_MINE
        self.host.send(Nearby(near.target, near.hops - 1, near.payload), hop)
        return None

    def _take_addressed(self, message: Message) -> Drop | None:
        if isinstance(message, ProviderWish):
            return self.publishing.take_wish(message)
        if isinstance(message, ProviderEvent):
            return self.take_content(message.publication)
        return self.publishing.take_delegation(message) if isinstance(message, Delegation) else Drop.MALFORMED


def _target(message: Message) -> NodeId | None:
    """Whom a message is for that travels by place."""
    if isinstance(message, ProviderWish):
        return message.provider
    if isinstance(message, ProviderEvent):
        return message.principal
    return message.delegate if isinstance(message, Delegation) else None
