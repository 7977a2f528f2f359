"""Flooding of provider advertisements, which are counted towards the next construction (section II-B1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from roamcast.content.filter import Filter
from roamcast.routing.clone.messages import ProviderAdvert
from roamcast.routing.router import Drop, NodeId
from roamcast.routing.state.serials import following, is_newer
from roamcast.routing.state.timing import call_within

if TYPE_CHECKING:
    from roamcast.routing.clone.two_tier import TwoTier

AT_ONCE = 1.0
"Maximum delay before a subscription is sent to a new provider [s]."


class ProviderAdvertising:
    """One node's role in the flooding of advertisements."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host
        self.advertised: list[Filter] = []
        "The advertisements of this node."
        self.serial = 0
        self.heard = 0
        "Number of advertisements since the last construction."

    def start(self) -> None:
        """Start advertising after a random delay."""
        self._host.call_later(
            self._host.random.random() * self._router.parameters.advertise, self._readvertise
        )

    def advertise(self, filter: Filter) -> None:
        """Flood an advertisement with this node's position."""
        if filter not in self.advertised:
            self.advertised.append(filter)
            self._flood([filter])

    def advertises(self, filter: Filter) -> bool:
        """Return whether this node's advertisements intersect a filter."""
        return any(each.intersects(filter) for each in self.advertised)

    def handle(self, advert: ProviderAdvert, sender: NodeId) -> Drop | None:
        """Store a new advertisement and repeat it."""
        router = self._router
        if advert.provider == self._host.node:
            # Own advertisement. A higher serial is forged or from an earlier incarnation: continue after it.
            if is_newer(advert.serial, self.serial):
                self.serial = advert.serial
            return Drop.DUPLICATE
        if advert.hops + 1 >= router.parameters.hop_limit:
            return Drop.HOP_LIMIT
        new = (advert.provider, advert.pattern) not in router.ads.leases
        refused = router.ads.hear(advert, sender)
        if refused is None:
            if new:
                subscribe = router.forwarding.subscribe_new_provider
                call_within(self._host, AT_ONCE, subscribe, advert.provider, advert.pattern)
            onward = ProviderAdvert(
                advert.provider,
                advert.pattern,
                advert.place,
                advert.serial,
                advert.incarnation,
                advert.hops + 1,
            )
            call_within(self._host, router.parameters.jitter, self._host.broadcast, onward)
            self._count()
        return refused

    def _readvertise(self) -> None:
        """Advertise at random intervals, which desynchronises the providers."""
        if self.advertised:
            self._flood(self.advertised)
        mean = self._router.parameters.advertise
        self._host.call_later(mean * (0.5 + self._host.random.random()), self._readvertise)

    def _flood(self, patterns: Collection[Filter]) -> None:
        self.serial = following(self.serial)
        here, incarnation = self._router.geo.here(), self._host.incarnation
        for pattern in patterns:
            self._host.broadcast(ProviderAdvert(self._host.node, pattern, here, self.serial, incarnation, 0))
        self._count()

    def _count(self) -> None:
        self.heard += 1
        p, community = self._router.parameters, self._router.community
        if self.heard >= p.adverts_per_construction and community.construct():
            self.heard = 0
