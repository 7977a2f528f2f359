"""Flow state (RFC 4728, sections 3.5 and 8.6): nodes on a way remember it, and packets leave it out.

The first packets of a flow carry its number and its way. Later ones carry the number alone, or nothing at
all where the flow is the newest between the two ends: the hops that they have come tell then whether both
mean the same. From time to time a packet tells the way again.
"""

from __future__ import annotations

from itertools import pairwise

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.dsr.messages import DsrFlowPacket, DsrPacket
from roamcast.routing.unicast.dsr.parameters import DsrParameters

NUMBERS = 2**16
FLOW_BYTES = 24
"Without its way."


class Flow:
    """A way between two nodes as a node on it knows it."""

    __slots__ = ("expires", "number", "place", "told", "told_at", "way")

    def __init__(self, number: int, way: tuple[NodeId, ...], place: int, now: float) -> None:
        self.number = number
        self.way = way
        self.place = place
        "Where on it this node is."
        self.expires = now
        self.told = 0
        "Packets that have carried the way since it was made, or since somebody did not know it."
        self.told_at = now


class Flows:
    """A node's flows, its own and those that it is on the way of."""

    def __init__(self, node: NodeId, parameters: DsrParameters, incarnation: int) -> None:
        self.node = node
        self.parameters = parameters
        self.table: dict[tuple[NodeId, NodeId, int], Flow] = {}
        "By both ends and number, in the order in which they were heard of."
        self.newest: dict[tuple[NodeId, NodeId], int] = {}
        self._by_way: dict[tuple[NodeId, ...], Flow] = {}
        "Of one's own."
        self._number = incarnation << 8 | 1
        "Counted from the incarnation on: those of an earlier one are still remembered by others."

    def __len__(self) -> int:
        return len(self.table)

    def bytes(self) -> int:
        """What is kept, as it would be sent."""
        return sum(FLOW_BYTES + 4 * len(flow.way) for flow in self.table.values())

    def follow(
        self, packet: DsrPacket, path: tuple[NodeId, ...], now: float
    ) -> tuple[DsrPacket | DsrFlowPacket, NodeId]:
        """One's own packet as it is to be sent, and to whom: on the newest flow, unless `path` is shorter."""
        p, destination = self.parameters, path[-1]
        newest = self._find(self.node, destination, 0)
        if newest is not None and newest.expires > now and len(newest.way) <= len(path):
            path = newest.way
        flow = self._by_way.get(path)
        if flow is None or flow.expires <= now:
            flow = self._begin(path, now)
        flow.expires = now + p.flow_timeout
        if flow.told < p.flow_packets or flow.told_at < now - p.flow_repeat_interval:
            flow.told += 1
            flow.told_at = now
            return DsrPacket(packet.origin, packet.id, 0, path, 1, packet.payload, flow.number), path[1]
        number = 0 if self.newest.get((self.node, destination)) == flow.number else flow.number
        return DsrFlowPacket(packet.origin, destination, packet.id, number, 1, packet.payload), path[1]

    def learn(self, packet: DsrPacket, now: float) -> None:
        """Remember the flow that a packet on its way here tells of."""
        key = (packet.origin, packet.route[-1], packet.flow)
        flow = self.table.get(key)
        if flow is None or flow.way != packet.route:
            flow = Flow(packet.flow, packet.route, packet.at, now)
            self._keep(key, flow)
        flow.expires = now + self.parameters.flow_timeout

    def find(self, packet: DsrFlowPacket, now: float) -> Flow | None:
        """The flow that a packet heard here follows, if it is known and agrees on where this node is."""
        flow = self._find(packet.origin, packet.destination, packet.flow)
        if flow is None or flow.expires <= now or flow.place != packet.hops:
            return None
        flow.expires = now + self.parameters.flow_timeout
        return flow

    def recall(self, packet: DsrFlowPacket) -> DsrPacket | None:
        """A packet that was sent on along a flow, with its way; None if the flow is forgotten."""
        flow = self._find(packet.origin, packet.destination, packet.flow)
        if flow is None or flow.place != packet.hops - 1:
            return None
        return DsrPacket(packet.origin, packet.id, 0, flow.way, packet.hops, packet.payload)

    def cut(self, start: NodeId, end: NodeId) -> None:
        """End one's own flows over a link that has failed."""
        for way in [way for way in self._by_way if start in way and (start, end) in pairwise(way)]:
            self._by_way.pop(way).expires = 0.0

    def resend_route(self, destination: NodeId, number: int) -> None:
        """Somebody did not know a flow of one's own: its next packets tell the way."""
        flow = self._find(self.node, destination, number)
        if flow is not None:
            flow.told = 0

    def _find(self, origin: NodeId, destination: NodeId, number: int) -> Flow | None:
        number = number or self.newest.get((origin, destination), 0)
        return self.table.get((origin, destination, number))

    def _begin(self, way: tuple[NodeId, ...], now: float) -> Flow:
        flow = self._by_way[way] = Flow(self._number, way, 0, now)
        self._number = (self._number + 2) % NUMBERS
        self._keep((self.node, way[-1], flow.number), flow)
        return flow

    def _keep(self, key: tuple[NodeId, NodeId, int], flow: Flow) -> None:
        self.table.pop(key, None)
        self.table[key] = flow
        ends = key[:2]
        known = self.newest.get(ends)
        if key[2] % 2 and (known is None or 0 < (key[2] - known) % NUMBERS < NUMBERS // 2):
            self.newest[ends] = key[2]
        if len(self.table) > self.parameters.flows:
            self._forget(next(iter(self.table)))

    def _forget(self, key: tuple[NodeId, NodeId, int]) -> None:
        flow = self.table.pop(key)
        if self.newest.get(key[:2]) == key[2]:
            del self.newest[key[:2]]
        if self._by_way.get(flow.way) is flow:
            del self._by_way[flow.way]
