"""Detection of link-layer duplicates, which would multiply if each broker forwarded every copy."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from roamcast.routing.cbr.raft.byte_budget import ByteBudget
from roamcast.routing.cbr.raft.messages import Addressee, Ping, XcastEvent
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases

Passage: TypeAlias = tuple[int, tuple[NodeId, ...], tuple[Addressee, ...] | tuple[NodeId, ...], int]
"Publication (or publisher), path so far, destinations, age [ms]."


class RecentDuplicates:
    """Events and pings received within the last `retransmit_timeout` seconds.

    A retransmitted event has a greater age, and pings are further apart, so an identical message is a
    duplicate.
    """

    def __init__(self, host: Host, parameters: RaftCbrParameters) -> None:
        self.host = host
        self._known: Leases[Passage, XcastEvent | Ping] = Leases(
            parameters.retransmit_timeout, parameters.cached_events
        )
        self._budget = ByteBudget(parameters.event_bytes)

    def is_copy(self, message: XcastEvent | Ping) -> bool:
        """Return whether an identical message was received recently, and remember this one."""
        if isinstance(message, XcastEvent):
            passage: Passage = (message.publication.id, message.chain, message.destinations, message.age)
        else:
            passage = (-1 - message.publisher, message.chain, message.destinations, 0)
        now = self.host.now()
        self._known.sweep(now)
        copy = not self._known.renew(passage, message, now)
        if not copy and self._budget.spend(message.length):
            sizes = [(each, held.length) for each, held in self._known.items(now)]
            for each in self._budget.surplus(sizes):
                self._known.discard(each)
        return copy

    def footprint(self) -> Footprint:
        """Return the size: the messages remembered, by their length."""
        lengths = [message.length for message in self._known.values(-inf)]
        return Footprint(len(lengths), sum(lengths), self._known.capacity)
