"""Forwarding of subscriptions: hop by hop to the principal, then by position to providers (section II-B2).

A principal answers a request from its cache. Otherwise it stores the request, and aggregates equal ones to
the provider. Forwarding nodes also aggregate equal requests within a short time: routes to a principal may
form temporary loops, in which duplicated messages would multiply.
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

MAX_HOPS = 16
"Maximum number of hops of a subscription to its principal."


class SubscriptionForwarding:
    """One node's role in forwarding subscriptions."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host
        self._passed: Leases[tuple[Filter, bool], bool] = Leases(
            router.parameters.subscription_aggregation, router.parameters.subscriptions
        )
        "Filters forwarded recently and not answered since, and whether each is a subscription."

    def footprint(self) -> Footprint:
        """Return the size: filter, type and lease per aggregated subscription."""
        patterns = sum(filter_size(pattern) for (pattern, _), _ in self._passed.items(-inf))
        return Footprint(len(self._passed), 9 * len(self._passed) + patterns, self._passed.capacity)

    def subscribe(self, filter: Filter, *, standing: bool) -> None:
        """Send a subscription or request to the principal, or serve it at the principal itself."""
        hop = self._router.community.next_hop()
        if hop is None:
            self._serve(self._host.node, filter, new=not standing)
        else:
            # As a request it would be answered repeatedly by this node's own events.
            stands = standing or self._router.announcing.advertises(filter)
            self._host.send(CommunityWish(filter, stands, 1), hop)

    def renew(self) -> None:
        """Repeat subscriptions and unanswered requests."""
        router, now = self._router, self._host.now()
        for filter in dict.fromkeys(router.interests):
            standing = router.interests.count(filter) > router.single.count(filter)
            self.subscribe(filter, standing=standing)
        if router.community.is_principal:
            for pattern in router.subs.patterns(now):
                if router.provider_requests.due(pattern, router.cache.newest(pattern) is not None, now):
                    self._subscribe_providers(pattern)

    def handle(self, subscription: CommunityWish, sender: NodeId) -> Drop | None:
        """Store a neighbour's subscription; forward it to the principal, or serve it there."""
        router, now = self._router, self._host.now()
        new = router.subs.hear(sender, subscription.pattern, subscription.standing, now)
        hop = router.community.next_hop()
        if hop is None:
            self._serve(sender, subscription.pattern, new=new or not subscription.standing)
        elif subscription.hops >= MAX_HOPS:
            return Drop.HOP_LIMIT
        elif hop == sender:
            return Drop.NO_ROUTE
        elif self._aggregated(subscription, now):
            return Drop.DUPLICATE
        else:
            self._host.send(
                CommunityWish(subscription.pattern, subscription.standing, subscription.hops + 1), hop
            )
        return None

    def forget_answered(self, event: Event) -> None:
        """Remove the aggregated entries that an event answers, so that new ones are forwarded."""
        for key in [key for key, _ in self._passed.items(-inf) if key[0].matches(event)]:
            self._passed.discard(key)

    def _aggregated(self, subscription: CommunityWish, now: float) -> bool:
        """Return whether an equal subscription was forwarded recently; otherwise record this one."""
        if self._router.parameters.subscription_aggregation == 0:
            return False
        self._passed.sweep(now)
        key = (subscription.pattern, subscription.standing)
        if self._passed.get(key, now) is not None:
            return True
        self._passed.renew(key, True, now)
        return False

    def failed(self, subscription: CommunityWish, to: NodeId) -> None:
        """Send a subscription by another route to the principal after a link failure, if there is one."""
        hop = self._router.community.next_hop()
        if hop is None or hop == to:
            self._host.drop(subscription, Drop.NO_ROUTE)
        else:
            self._host.send(subscription, hop)

    def subscribe_new_provider(self, provider: NodeId, advertised: Filter) -> None:
        """Send the pending subscriptions that intersect a new provider's advertisement to it."""
        router = self._router
        if router.community.next_hop() is not None:
            return
        pending = dict.fromkeys([*router.interests, *router.subs.patterns(self._host.now())])
        for filter in pending:
            if advertised.intersects(filter):
                self._subscribe_providers(filter, provider)

    def _serve(self, child: NodeId, filter: Filter, *, new: bool) -> None:
        """Answer a request from the cache, and subscribe to providers if that is due."""
        router, now = self._router, self._host.now()
        copy = router.cache.newest(filter)
        if router.provider_requests.due(filter, copy is not None, now):
            self._subscribe_providers(filter)
        if copy is None or not new:
            return
        if child == self._host.node:
            router.deliver(copy)
        else:
            router.subs.serve(copy.event, now, standing=False)
            self._host.send(CommunityEvent(copy), child)

    def _subscribe_providers(self, filter: Filter, only: NodeId | None = None) -> None:
        """Send a subscription to the positions of matching providers; register locally as a provider."""
        router = self._router
        here, radius = router.geo.here(), int(router.parameters.radius)
        offering = router.ads.matching(filter)
        for provider, place in sorted(offering.items()):
            if only is None or provider == only:
                subscription = ProviderWish(provider, filter, self._host.node, here)
                router.geo.send_to(subscription, provider, place, radius)
        if router.announcing.advertises(filter):
            router.services.hear(self._host.node, filter, here, self._host.now())
        elif not offering:
            self._host.drop(CommunityWish(filter, False, 0), Drop.NO_ROUTE)  # no provider is known
