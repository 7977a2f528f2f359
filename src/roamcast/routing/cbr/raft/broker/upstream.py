"""Acknowledgements and requests of RAFT-CBR on their way to the publisher."""

from __future__ import annotations

from math import inf

import msgspec

from roamcast.routing.cbr.raft.broker.cache import EventCache
from roamcast.routing.cbr.raft.messages import Ack, Nack
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.unicast.unicast import Unicast


class UpstreamSender:
    """The neighbours towards each publisher, and the messages that are sent there."""

    def __init__(
        self, host: Host, parameters: RaftCbrParameters, unicast: Unicast, cache: EventCache
    ) -> None:
        self.host = host
        self.parameters = parameters
        self._unicast = unicast
        self._cache = cache
        self._latest: dict[NodeId, tuple[NodeId, float]] = {}
        "Publisher -> the neighbour from which its latest event or ping came, and when [s]."
        # Attributes of a pydantic model are slow to read.
        self._reroute, self._retransmit_timeout = parameters.reroute, parameters.retransmit_timeout

    def note(self, publisher: NodeId, sender: NodeId) -> None:
        """Record the neighbour from which an event or a ping of `publisher` has just come."""
        latest = self._latest
        if publisher not in latest and len(latest) >= self.parameters.publishers:
            del latest[next(iter(latest))]
        latest[publisher] = (sender, self.host.now())

    def neighbour(self, publisher: NodeId, within: float) -> NodeId | None:
        """Return the neighbour from which an event or a ping of `publisher` came in the last `within`
        seconds, if any."""
        neighbour, heard_at = self._latest.get(publisher, (None, -inf))
        return neighbour if heard_at + within > self.host.now() else None

    def acknowledge(self, publisher: NodeId, sequence: int, subscribers: frozenset[NodeId]) -> None:
        """Send an acknowledgement to the node that the event came from; without a route there, to the
        publisher."""
        parent = self._cache.parent(publisher, sequence)
        if self._is_upstream(publisher, parent):
            self._unicast.send_across(Ack(publisher, sequence, subscribers), parent)
            return
        if self._unicast.next_hop(parent) is None and self.parameters.reroute:
            parent = publisher
        self._unicast.send(Ack(publisher, sequence, subscribers), parent)

    def request(self, nack: Nack) -> None:
        """Send a request to the next reachable node of its chain; to the publisher if there is none."""
        for place, node in enumerate(nack.chain):
            if node == self.host.node:
                continue
            if self._is_upstream(nack.publisher, node):
                self._unicast.send_across(msgspec.structs.replace(nack, chain=nack.chain[place + 1 :]), node)
                return
            if self._unicast.next_hop(node) is not None or not self.parameters.reroute:
                self._unicast.send(msgspec.structs.replace(nack, chain=nack.chain[place + 1 :]), node)
                return
        self._unicast.send(msgspec.structs.replace(nack, chain=()), nack.publisher)

    def footprint(self) -> Footprint:
        """Return the size: publisher, neighbour and time of each entry."""
        return Footprint(len(self._latest), 16 * len(self._latest), self.parameters.publishers)

    def _is_upstream(self, publisher: NodeId, node: NodeId) -> bool:
        """Return whether the latest event or ping of `publisher` came from `node` within
        `retransmit_timeout`."""
        return self._reroute and node == self.neighbour(publisher, self._retransmit_timeout)
