"""What has just been here: links may make copies, and a broker that passes each of them on makes a storm."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from roamcast.routing.cbr.raft.messages import Addressee, Ping, XcastEvent
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases

Passage: TypeAlias = tuple[int, tuple[NodeId, ...], tuple[Addressee, ...] | tuple[NodeId, ...], int]
"Publication or publisher, the way so far, for whom, how old."


class RecentDuplicates:
    """Events and pings that came by within `retransmit_timeout`.

    Whoever sends an event again tells that it is older now, and pings come further apart: what is the same in
    every respect was not sent again.
    """

    def __init__(self, host: Host, parameters: RaftCbrParameters) -> None:
        self.host = host
        self._known: Leases[Passage, XcastEvent | Ping] = Leases(
            parameters.retransmit_timeout, parameters.cached_events
        )

    def is_copy(self, message: XcastEvent | Ping) -> bool:
        """Whether exactly this message was here a moment ago; from now on it was."""
        if isinstance(message, XcastEvent):
            passage: Passage = (message.publication.id, message.chain, message.destinations, message.age)
        else:
            passage = (-1 - message.publisher, message.chain, message.destinations, 0)
        now = self.host.now()
        self._known.sweep(now)
        return not self._known.renew(passage, message, now)

    def footprint(self) -> Footprint:
        """What is remembered, at the length of the messages."""
        lengths = [message.length for message in self._known.values(-inf)]
        return Footprint(len(lengths), sum(lengths), self._known.capacity)
