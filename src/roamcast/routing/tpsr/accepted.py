"""Which recipients of a publication this node has taken charge of, and from whom."""

from __future__ import annotations

from collections.abc import Collection

from roamcast.routing.router import Footprint, NodeId


class AcceptedRecipients:
    """Recipients by publication; the oldest publication is forgotten first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._recipients: dict[int, dict[NodeId, NodeId]] = {}
        self._pairs = 0

    def accept(
        self, publication: int, recipients: Collection[NodeId], sender: NodeId
    ) -> tuple[set[NodeId], set[NodeId]]:
        """Those that are new here, and those that came before from another sender: they go in a circle."""
        held = self._recipients.setdefault(publication, {})
        fresh = {recipient for recipient in recipients if recipient not in held}
        back = {recipient for recipient in recipients if held.get(recipient, sender) != sender}
        for recipient in sorted(fresh):
            held[recipient] = sender
        self._pairs += len(fresh)
        while self._pairs > self._capacity:
            self._pairs -= len(self._recipients.pop(next(iter(self._recipients))))
        return fresh, back

    def sender(self, publication: int, recipient: NodeId) -> NodeId | None:
        """Who gave this node charge of a recipient."""
        return self._recipients.get(publication, {}).get(recipient)

    def footprint(self) -> Footprint:
        """Publication, recipient and sender."""
        return Footprint(self._pairs, 16 * self._pairs, self._capacity)
