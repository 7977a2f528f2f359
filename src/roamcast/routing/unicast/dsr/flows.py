"""Flow state (RFC 4728, sections 3.5 and 8.6): nodes store a route, and packets omit it.

The first packets of a flow carry its id and its source route. Later ones carry only the id, or nothing if the
flow is the newest between the two ends; the hop count then shows whether both nodes mean the same flow. The
route is repeated periodically.
"""

from __future__ import annotations

from itertools import pairwise

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.dsr.messages import DsrFlowPacket, DsrPacket
from roamcast.routing.unicast.dsr.parameters import DsrParameters

NUMBERS = 2**16
FLOW_BYTES = 24
"Size of a flow without its route [B]."


class Flow:
    """A route between two nodes, as stored by a node on it."""

    __slots__ = ("expires", "index", "number", "route", "route_sends", "route_sent_at")

    def __init__(self, number: int, route: tuple[NodeId, ...], index: int, now: float) -> None:
        self.number = number
        self.route = route
        self.index = index
        "Index of this node on the route."
        self.expires = now
        self.route_sends = 0
        "Number of packets that carried the route since the flow began or was last unknown to a node."
        self.route_sent_at = now


class Flows:
    """A node's flows: its own, and those that it forwards."""

    def __init__(self, node: NodeId, parameters: DsrParameters, incarnation: int) -> None:
        self.node = node
        self.parameters = parameters
        self.table: dict[tuple[NodeId, NodeId, int], Flow] = {}
        "By both ends and flow id, in the order of creation."
        self.newest: dict[tuple[NodeId, NodeId], int] = {}
        self._by_route: dict[tuple[NodeId, ...], Flow] = {}
        "Flows of this node by route."
        self._number = incarnation << 8 | 1
        "Starts from the incarnation, since other nodes remember the ids of earlier ones."

    def __len__(self) -> int:
        return len(self.table)

    def bytes(self) -> int:
        """Return the size of the flows as sent [B]."""
        return sum(FLOW_BYTES + 4 * len(flow.route) for flow in self.table.values())

    def follow(
        self, packet: DsrPacket, path: tuple[NodeId, ...], now: float
    ) -> tuple[DsrPacket | DsrFlowPacket, NodeId]:
        """Return a packet of this node as sent, and its next hop: on the newest flow, or a shorter `path`."""
        p, destination = self.parameters, path[-1]
        newest = self._find(self.node, destination, 0)
        if newest is not None and newest.expires > now and len(newest.route) <= len(path):
            path = newest.route
        flow = self._by_route.get(path)
        if flow is None or flow.expires <= now:
            flow = self._begin(path, now)
        flow.expires = now + p.flow_timeout
        if flow.route_sends < p.flow_packets or flow.route_sent_at < now - p.flow_repeat_interval:
            flow.route_sends += 1
            flow.route_sent_at = now
            return DsrPacket(packet.origin, packet.id, 0, path, 1, packet.payload, flow.number), path[1]
        number = 0 if self.newest.get((self.node, destination)) == flow.number else flow.number
        return DsrFlowPacket(packet.origin, destination, packet.id, number, 1, packet.payload), path[1]

    def learn(self, packet: DsrPacket, now: float) -> None:
        """Store the flow that a received packet describes."""
        key = (packet.origin, packet.route[-1], packet.flow)
        flow = self.table.get(key)
        if flow is None or flow.route != packet.route:
            flow = Flow(packet.flow, packet.route, packet.at, now)
            self._keep(key, flow)
        flow.expires = now + self.parameters.flow_timeout

    def find(self, packet: DsrFlowPacket, now: float) -> Flow | None:
        """Return the flow of a received packet, if it is known and agrees on this node's index."""
        flow = self._find(packet.origin, packet.destination, packet.flow)
        if flow is None or flow.expires <= now or flow.index != packet.hops:
            return None
        flow.expires = now + self.parameters.flow_timeout
        return flow

    def recall(self, packet: DsrFlowPacket) -> DsrPacket | None:
        """Return a packet sent along a flow, with its source route; None if the flow is not stored."""
        flow = self._find(packet.origin, packet.destination, packet.flow)
        if flow is None or flow.index != packet.hops - 1:
            return None
        return DsrPacket(packet.origin, packet.id, 0, flow.route, packet.hops, packet.payload)

    def cut(self, start: NodeId, end: NodeId) -> None:
        """End this node's flows over a failed link."""
        for route in [
            route for route in self._by_route if start in route and (start, end) in pairwise(route)
        ]:
            self._by_route.pop(route).expires = 0.0

    def resend_route(self, destination: NodeId, number: int) -> None:
        """Make the next packets of a flow carry the route, since a node did not know the flow."""
        flow = self._find(self.node, destination, number)
        if flow is not None:
            flow.route_sends = 0

    def _find(self, origin: NodeId, destination: NodeId, number: int) -> Flow | None:
        number = number or self.newest.get((origin, destination), 0)
        return self.table.get((origin, destination, number))

    def _begin(self, route: tuple[NodeId, ...], now: float) -> Flow:
        flow = self._by_route[route] = Flow(self._number, route, 0, now)
        self._number = (self._number + 2) % NUMBERS
        self._keep((self.node, route[-1], flow.number), flow)
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
        if self._by_route.get(flow.route) is flow:
            del self._by_route[flow.route]
