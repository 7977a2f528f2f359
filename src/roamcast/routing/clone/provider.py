"""The provider's role: sends events to subscribed principals, separately, along a tree or by delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.routing.clone.messages import (
    MOST_TARGETS,
    BranchEvent,
    Delegation,
    MulticastTarget,
    ProviderEvent,
    ProviderWish,
)
from roamcast.routing.clone.service import ServedPrincipal
from roamcast.routing.router import Drop, NodeId, Publication

if TYPE_CHECKING:
    from roamcast.routing.clone.two_tier import TwoTier


class Provider:
    """The provider's role of a router."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host

    def publish(self, publication: Publication) -> None:
        """Send an event to every subscribed principal."""
        router, now = self._router, self._host.now()
        interested = router.services.interested(publication.event, now)
        here = ProviderEvent(publication, self._host.node)
        away = [served for served in interested if served.principal != self._host.node]
        served_here = router.forward_event(publication, self._host.node) is None
        if not away and not served_here:
            lapsed = router.services.lapsed(publication.event, now)
            self._host.drop(here, Drop.EXPIRED if lapsed else Drop.UNWANTED)
        for served in away:
            router.services.note(served.principal, publication, now)
        if router.parameters.publishing == "separate":
            for served in away:
                self._send(publication, served)
            return
        for first in range(0, len(away), MOST_TARGETS):
            targets = tuple(MulticastTarget(*served) for served in away[first : first + MOST_TARGETS])
            self._branch(publication, targets, router.parameters.gpsr.hop_limit)

    def handle_subscription(self, subscription: ProviderWish) -> Drop | None:
        """Store a principal's subscription; with delegates, have the latest match sent to it at once."""
        router, now = self._router, self._host.now()
        if not router.announcing.advertises(subscription.pattern):
            return Drop.UNWANTED
        router.services.hear(subscription.principal, subscription.pattern, subscription.place, now)
        copy = router.cache.newest(subscription.pattern)
        if copy is None or not router.delegates or router.services.has(subscription.principal, copy, now):
            return None
        here = router.geo.here()
        delegate = router.services.delegate(copy, subscription.principal, subscription.place, here, now)
        router.services.note(subscription.principal, copy, now)
        if delegate is None:
            self._send(copy, ServedPrincipal(subscription.principal, subscription.place))
        else:
            command = Delegation(copy.id, delegate.principal, subscription.principal, subscription.place)
            router.geo.send_to(command, delegate.principal, delegate.place, int(router.parameters.radius))
        return None

    def handle_delegation(self, command: Delegation) -> Drop | None:
        """Send a cached publication to another principal on behalf of the provider."""
        copy = self._router.cache.find(command.id)
        if copy is None:
            return Drop.EXPIRED
        self._send(copy, ServedPrincipal(command.principal, command.place))
        return None

    def handle_branch(self, event: BranchEvent, sender: NodeId) -> Drop | None:
        """Accept a publication addressed to this node, and forward it along the tree."""
        router, node = self._router, self._host.node
        if event.hops <= 1:
            return Drop.HOP_LIMIT
        others = tuple(target for target in event.targets if target.principal != node)
        answer = None
        if len(others) < len(event.targets):
            answer = router.handle_content(event.publication)
        if others:
            self._branch(event.publication, others, event.hops - 1)
            return None
        return answer

    def branch_failed(self, event: BranchEvent) -> None:
        """Send separate copies to the targets behind a failed link of the tree."""
        for target in event.targets:
            self._send(event.publication, ServedPrincipal(*target))

    def _branch(self, publication: Publication, targets: tuple[MulticastTarget, ...], hops: int) -> None:
        """Send one copy to each neighbour that is the next hop to some of the targets."""
        geo, now = self._router.geo, self._host.now()
        over: dict[NodeId, list[MulticastTarget]] = {}
        for target in targets:
            direct = geo.near.has(target.principal, now)
            hop = target.principal if direct else geo.nearer(target.place)
            if hop is None:
                self._send(publication, ServedPrincipal(*target))
            else:
                over.setdefault(hop, []).append(target)
        for hop, beyond in over.items():
            self._host.send(BranchEvent(publication, tuple(beyond), hops), hop)

    def _send(self, publication: Publication, to: ServedPrincipal) -> None:
        router = self._router
        message = ProviderEvent(publication, to.principal)
        if to.principal == self._host.node:
            router.handle_content(publication)
        else:
            router.geo.send_to(message, to.principal, to.place, int(router.parameters.radius))
