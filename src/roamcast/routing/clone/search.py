"""Local search for a provider or principal that has left its last known position (figure 2).

The search is a local broadcast, answered from the AdsTable of nodes within two hops of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from roamcast.routing.clone.messages import Delegation, Nearby, ProviderEvent, ProviderWish
from roamcast.routing.router import Drop, Message, NodeId

if TYPE_CHECKING:
    from roamcast.routing.clone.two_tier import TwoTier

SEARCH = 3
"Hops of a local search: the broadcast, and up to two more."


class NodeSearch:
    """One node's role in the local search."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host

    def handle(self, message: Message) -> Drop | None:
        """Handle a message addressed to this node; otherwise search for its target nearby."""
        target = _target(message)
        if target is None:
            return Drop.MALFORMED
        if target == self._host.node:
            return self._handle_addressed(message)
        hop = self._router.ads.next_hop(target)
        if hop is None:
            self._host.broadcast(Nearby(target, SEARCH, message))
        else:
            self._host.send(Nearby(target, SEARCH, message), hop)
        return None

    def handle_nearby(self, near: Nearby, sender: NodeId) -> Drop | None:
        """Forward a searching message if its target is known to be near."""
        if _target(near.payload) != near.target:
            return Drop.MALFORMED
        if near.target == self._host.node:
            return self._handle_addressed(near.payload)
        if near.hops <= 1:
            return Drop.HOP_LIMIT
        hop = self._router.ads.next_hop(near.target)
        if hop is None or hop == sender:
            return Drop.NOT_MINE
        self._host.send(Nearby(near.target, near.hops - 1, near.payload), hop)
        return None

    def _handle_addressed(self, message: Message) -> Drop | None:
        router = self._router
        if isinstance(message, ProviderWish):
            return router.publishing.handle_subscription(message)
        if isinstance(message, ProviderEvent):
            return router.handle_content(message.publication)
        return (
            router.publishing.handle_delegation(message)
            if isinstance(message, Delegation)
            else Drop.MALFORMED
        )


TARGETS: Mapping[type[Message], Callable[[Message], NodeId]] = {
    ProviderWish: attrgetter("provider"),
    ProviderEvent: attrgetter("principal"),
    Delegation: attrgetter("delegate"),
}
"The target of each geographically routed message class."


def _target(message: Message) -> NodeId | None:
    """Return the target of a geographically routed message; None for other messages."""
    find = TARGETS.get(type(message))
    return None if find is None else find(message)
