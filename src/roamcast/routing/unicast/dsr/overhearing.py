"""Overhearing of DSR: nodes learn from messages of others, and report shortcuts."""

from __future__ import annotations

from typing import Any

from roamcast.routing.router import NodeId
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.seen import Seen
from roamcast.routing.unicast.dsr.discovery import DsrDiscovery
from roamcast.routing.unicast.dsr.maintenance import Maintenance
from roamcast.routing.unicast.dsr.messages import DsrError, DsrPacket, DsrReply
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.source_routing import SourceRouting

OVERHEARD = (DsrPacket, DsrReply, DsrError)
"Overheard message classes; the paths of requests are left out, since they may not be bidirectional."


class Overhearing:
    """A node's processing of overheard messages."""

    def __init__(
        self,
        parameters: DsrParameters,
        routing: SourceRouting,
        discovery: DsrDiscovery,
        maintenance: Maintenance,
    ) -> None:
        self.parameters = p = parameters
        self.routing = routing
        self.discovery = discovery
        self.maintenance = maintenance
        self.overheard = Seen(p.overheard_limit)
        self.shortcuts: Leases[tuple[NodeId, ...], bool] = Leases(
            max(p.gratuitous_holdoff, 1e-3), p.gratuitous_table
        )
        "Recently reported shortcuts."
        self._host = routing.host
        self._node = routing.host.node

    def overhear(self, message: Any, sender: NodeId, to: NodeId) -> None:
        """Learn once from an overheard message: its route, its content, and possible shortcuts."""
        kind = type(message)
        if kind not in OVERHEARD:
            return
        route = message.route
        origin = message.origin if kind is DsrPacket else route[0]
        if not self.overheard.add(origin << 16 | message.id) or origin == self._node:
            return
        at = message.at
        if route[at] != to or route[at - 1] != sender:
            return
        if kind is DsrError:
            for link in message.links():
                self.routing.cut(*link)
            if self.parameters.nested_errors > 1 and route[-1] == self._node:
                self.maintenance.accept_error(message, overheard=True)
        elif kind is DsrReply:
            self.discovery.learn_route(message.found, sender)
        node = self._node
        if node in route:
            place = route.index(node)
            self.routing.notice(route[place:])
            if place > at and kind is DsrPacket:
                self._shorten(message, place)
        else:
            self.routing.notice((node, *route[at - 1 :]))

    def _shorten(self, packet: DsrPacket, place: int) -> None:
        """Report to a packet's origin that the nodes between its sender and this node can be skipped."""
        p, route, at, now = self.parameters, packet.route, packet.at, self._host.now()
        key = route if p.gratuitous_by_way else (route[0], route[at - 1])
        self.shortcuts.sweep(now)
        if not p.gratuitous_holdoff or key in self.shortcuts:
            return
        self.shortcuts.renew(key, True, now)
        self.discovery.reply(route[:at] + route[place:], (self._node, *reversed(route[:at])))
