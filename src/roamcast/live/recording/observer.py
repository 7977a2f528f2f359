"""The observer of a node, which is called when its applications and its router act."""

from __future__ import annotations

from roamcast.content.filter import Filter
from roamcast.routing.router import Drop, Message, NodeId, Publication


class NodeObserver:
    """The base class: ignores everything."""

    def started(self, node: NodeId, incarnation: int) -> None:
        """Note that the node starts; the first call."""

    def publishing(self) -> None:
        """Note that the application hands an event to the router, which may refuse it."""

    def published(self, publication: Publication) -> None:
        """Note that the router accepted the event that was handed to it last."""

    def delivered(self, publication: Publication) -> None:
        """Note that the router delivered an event of another node."""

    def interest(self, wanted: Filter, begins: bool) -> None:
        """Note that the application subscribed (`begins`) or unsubscribed."""

    def sent(self, message: Message, to: NodeId, size: int) -> None:
        """Note that the router sent a message of `size` bytes; `to` is -1 for a broadcast."""

    def dropped(self, message: Message, reason: Drop, peer: NodeId) -> None:
        """Note that the router dropped a message; `peer` is its sender or receiver, or -1."""

    def failed(self, message: Message, to: NodeId, cause: str) -> None:
        """Note that the link could not deliver a message; `cause` is retry_limit or queue_full."""

    def state(self, name: str, value: float) -> None:
        """Note a state that the router reported."""
