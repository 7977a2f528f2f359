"""Wishes: from a member hop by hop to its principal, and from that by place to providers (section II-B2).

A principal answers from its cache at once; otherwise whoever asked waits, and equal wishes are one. On the
way they are one, too, if they come soon after each other: ways to a principal may lead in circles for a
while, and where links make copies a circle makes a storm.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.clone.messages import CommunityEvent, CommunityWish, ProviderWish
from roamcast.routing.router import Drop, Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size

if TYPE_CHECKING:
    from roamcast.routing.clone.two_tier import TwoTier

ESTIMATE = 16
"More hops than any wish needs to its principal."


class SubscriptionForwarding:
    """One node's part in bringing wishes to whoever can serve them."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host
        self._passed: Leases[tuple[Filter, bool], bool] = Leases(
            router.parameters.subscription_aggregation, router.parameters.subscriptions
        )
        "What was passed on lately and not answered since, and whether it stands."

    def footprint(self) -> Footprint:
        """Pattern, whether it stands, and lease of each wish that is under way."""
        patterns = sum(filter_size(pattern) for (pattern, _), _ in self._passed.items(-inf))
        return Footprint(len(self._passed), 9 * len(self._passed) + patterns, self._passed.capacity)

    def subscribe(self, wanted: Filter, *, standing: bool) -> None:
        """Ask the principal, or be that."""
        hop = self._router.community.next_hop()
        if hop is None:
            self._serve(self._host.node, wanted, new=not standing)
        else:
            # An event of its own would answer who offers what it asks for, again and again.
            stands = standing or self._router.announcing.offers(wanted)
            self._host.send(CommunityWish(wanted, stands, 1), hop)

    def renew(self) -> None:
        """Ask again for what is wanted and has not come."""
        router, now = self._router, self._host.now()
        for wanted in dict.fromkeys(router.interests):
            standing = router.interests.count(wanted) > router.single.count(wanted)
            self.subscribe(wanted, standing=standing)
        if router.community.is_principal:
            for pattern in router.subs.patterns(now):
                if router.asked.due(pattern, router.cache.newest(pattern) is not None, now):
                    self._subscribe_providers(pattern)

    def handle(self, wish: CommunityWish, sender: NodeId) -> Drop | None:
        """Remember who waits; pass the wish on to the principal, or be that and serve it."""
        router, now = self._router, self._host.now()
        new = router.subs.hear(sender, wish.pattern, wish.standing, now)
        hop = router.community.next_hop()
        if hop is None:
            self._serve(sender, wish.pattern, new=new or not wish.standing)
        elif wish.hops >= ESTIMATE:
            return Drop.HOP_LIMIT
        elif hop == sender:
            return Drop.NO_ROUTE
        elif self._gathered(wish, now):
            return Drop.DUPLICATE
        else:
            self._host.send(CommunityWish(wish.pattern, wish.standing, wish.hops + 1), hop)
        return None

    def forget_answered(self, event: Event) -> None:
        """An answer has come by: whoever asks for it from now on asks anew."""
        for key in [key for key, _ in self._passed.items(-inf) if key[0].matches(event)]:
            self._passed.discard(key)

    def _gathered(self, wish: CommunityWish, now: float) -> bool:
        """Whether an equal wish is under way; if not, this one is from now on."""
        if self._router.parameters.subscription_aggregation == 0:
            return False
        self._passed.sweep(now)
        key = (wish.pattern, wish.standing)
        if self._passed.get(key, now) is not None:
            return True
        self._passed.renew(key, True, now)
        return False

    def failed(self, wish: CommunityWish, to: NodeId) -> None:
        """Take another way to the principal, if there is one."""
        hop = self._router.community.next_hop()
        if hop is None or hop == to:
            self._host.drop(wish, Drop.NO_ROUTE)
        else:
            self._host.send(wish, hop)

    def subscribe_new_provider(self, provider: NodeId, offered: Filter) -> None:
        """Ask a provider that has just been heard of for what is waited for."""
        router = self._router
        if router.community.next_hop() is not None:
            return
        waited = dict.fromkeys([*router.interests, *router.subs.patterns(self._host.now())])
        for wanted in waited:
            if offered.intersects(wanted):
                self._subscribe_providers(wanted, provider)

    def _serve(self, child: NodeId, wanted: Filter, *, new: bool) -> None:
        """Answer a wish from the cache, or have whoever asked wait and ask the providers."""
        router, now = self._router, self._host.now()
        copy = router.cache.newest(wanted)
        if router.asked.due(wanted, copy is not None, now):
            self._subscribe_providers(wanted)
        if copy is None or not new:
            return
        if child == self._host.node:
            router.deliver(copy)
        else:
            router.subs.serve(copy.event, now, standing=False)
            self._host.send(CommunityEvent(copy), child)

    def _subscribe_providers(self, wanted: Filter, only: NodeId | None = None) -> None:
        """Ask by place whoever may have it; who is a provider itself has it in the cache."""
        router = self._router
        here, radius = router.geo.here(), int(router.parameters.radius)
        offering = router.ads.matching(wanted)
        for provider, place in sorted(offering.items()):
            if only is None or provider == only:
                wish = ProviderWish(provider, wanted, self._host.node, here)
                router.geo.send_to(wish, provider, place, radius)
        if router.announcing.offers(wanted):
            router.services.hear(self._host.node, wanted, here, self._host.now())
        elif not offering:
            self._host.drop(CommunityWish(wanted, False, 0), Drop.NO_ROUTE)  # nobody offers it
