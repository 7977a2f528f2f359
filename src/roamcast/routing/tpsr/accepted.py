"""The recipients for which this node has accepted a publication, and the sender of each."""

from __future__ import annotations

from collections.abc import Collection

from roamcast.routing.router import Footprint, NodeId


class AcceptedRecipients:
    """Recipients by publication; the oldest publication is evicted first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._recipients: dict[int, dict[NodeId, NodeId]] = {}
        self._pairs = 0

    def accept(
        self, publication: int, recipients: Collection[NodeId], sender: NodeId
    ) -> tuple[set[NodeId], set[NodeId]]:
        """Record `recipients`; return the new ones, and those accepted earlier from another sender (a
        loop)."""
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
        """Return the node from which this node accepted the recipient; None if unknown."""
        return self._recipients.get(publication, {}).get(recipient)

    def footprint(self) -> Footprint:
        """Return the size: publication, recipient and sender of each entry."""
        return Footprint(self._pairs, 16 * self._pairs, self._capacity)
