"""DSR (RFC 4728): every packet carries its whole way, and everyone learns from the ways it sees.

A request gathers the way that it comes; its target, or a node that knows the rest of the way, tells it back.
Nodes keep the ways that they asked for, pass on or overhear. Where a link fails the node before it tells who
sent the packet on that way, and sends the packet another way if it knows one. Links acknowledge by
themselves, so packets need no acknowledgements of their own. Where ns-2's rules differ they are parameters
(`parameters.NS2`); so is flow state, by which packets may leave their way out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.unicast.dsr.discovery import DsrDiscovery
from roamcast.routing.unicast.dsr.flows import Flows
from roamcast.routing.unicast.dsr.maintenance import Maintenance
from roamcast.routing.unicast.dsr.messages import (
    DsrError,
    DsrFlowError,
    DsrFlowPacket,
    DsrPacket,
    DsrReply,
    DsrRequest,
)
from roamcast.routing.unicast.dsr.overhearing import Overhearing
from roamcast.routing.unicast.dsr.parameters import DsrParameters
from roamcast.routing.unicast.dsr.path_cache import PathCache
from roamcast.routing.unicast.dsr.searches import RouteSearches
from roamcast.routing.unicast.dsr.source_routing import SourceRouting
from roamcast.routing.unicast.unicast import Datagram, Unicast, UnicastUser


class Dsr(Unicast):
    """One node's part in DSR."""

    parameters_type = DsrParameters
    messages = (DsrRequest, DsrReply, DsrError, DsrPacket, DsrFlowPacket, DsrFlowError)
    promiscuous = True

    def __init__(self, host: Host, parameters: DsrParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.cache = PathCache(host.node, p.primary, p.secondary, p.cache_timeout)
        self.flows = Flows(host.node, p, host.incarnation) if p.flow_state else None
        self.carriage = SourceRouting(self, p, self.cache, self.flows)
        self.discovery = DsrDiscovery(host, p, self.carriage)
        self.maintenance = Maintenance(host, p, self.carriage, self.discovery)
        self.overhearing = Overhearing(p, self.carriage, self.discovery, self.maintenance)
        held = self.carriage.held
        self.searches = RouteSearches(
            host, p, self.discovery.request, held.__contains__, self.carriage.give_up
        )
        self.carriage.ask = self.searches.ask
        self.carriage.flow_unknown = self.maintenance.flow_unknown
        self.discovery.found = self.searches.found
        self.handled = None if p.ordered_requests else self.discovery.seen
        self.promiscuous = p.overhearing
        self._node = host.node
        self._steered: dict[Any, Callable[[Any, NodeId], Drop | None]] = {
            DsrPacket: self.carriage.handle,
            DsrReply: self.discovery.handle_reply,
            DsrError: self.maintenance.handle_error,
            DsrFlowError: self.maintenance.handle_flow_error,
        }

    # What a router asks.

    def start(self) -> None:
        """Wait to be asked."""

    def send(self, message: Message, to: NodeId) -> None:
        """Carry a message to a node over as many hops as it takes; to oneself it is not sent."""
        if to == self._node:
            self.host.drop(Datagram(self._node, to, 0, message), Drop.MALFORMED)
        else:
            self.carriage.send(message, to)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """The first neighbour on the shortest way to `destination`, if one is known."""
        path = self.cache.find(destination, self.host.now())
        return None if path is None else path[1]

    def neighbours(self) -> Collection[NodeId]:
        """The first nodes on ways that are known."""
        return list(dict.fromkeys(path[1] for path in self.cache.paths()))

    def tables(self) -> Mapping[str, Footprint]:
        """Ways, what waits for ways, requests and packets seen, searches, shortcuts told, and flows."""
        p, held = self.parameters, self.carriage.held
        seen, tapped = len(self.discovery.seen), len(self.overhearing.tapped)
        rounds, shortcuts = len(self.searches.rounds), len(self.overhearing.shortcuts)
        tables = {
            "ways": Footprint(len(self.cache), self.cache.bytes(), p.primary + p.secondary),
            "held": Footprint(len(held), held.bytes(), p.buffer),
            "requests": Footprint(seen, 6 * seen, p.requests),
            "tapped": Footprint(tapped, 6 * tapped, p.overheard_limit),
            "searches": Footprint(rounds, 12 * rounds, p.targets),
            "shortcuts": Footprint(shortcuts, 16 * shortcuts, p.gratuitous_table),
        }
        if self.flows is not None:
            tables["flows"] = Footprint(len(self.flows), self.flows.bytes(), p.flows)
        return tables

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Learn from what is said, answer it, pass it on."""
        take = self._steered.get(type(message))
        if take is not None:
            route, at = message.route, message.at
            if route[at] != self._node or route[at - 1] != sender:
                return Drop.MALFORMED  # it did not come as it says
            return take(message, sender)
        if type(message) is DsrRequest:
            return self.discovery.handle_request(message, sender)
        return self.carriage.handle_flow_packet(message, sender)

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Learn from what is said between two others."""
        self.overhearing.overhear(message, sender, to)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Give up the ways over a link, tell who sent messages over it, and send them another way."""
        self.maintenance.link_failed(message, to)
