"""The search for a provider or principal that is not where it was believed: a local broadcast, and the
AdsTable of those within two hops of it (figure 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from roamcast.routing.clone.messages import Delegation, Nearby, ProviderEvent, ProviderWish
from roamcast.routing.router import Drop, Message, NodeId

if TYPE_CHECKING:
    from roamcast.routing.clone.two_tier import TwoTier

SEARCH = 3
"Hops of a local search: the broadcast, and over two more to who has moved."


class NodeSearch:
    """One node's part in finding who has moved."""

    def __init__(self, router: TwoTier) -> None:
        self._router = router
        self._host = router.host

    def handle(self, message: Message) -> Drop | None:
        """Take what is for this node; look around for whom else it is for."""
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
        """Pass on what is searched for a node that is known to be near."""
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
"Whom each kind of message is for that travels by place."


def _target(message: Message) -> NodeId | None:
    """Whom a message is for that travels by place."""
    find = TARGETS.get(type(message))
    return None if find is None else find(message)
