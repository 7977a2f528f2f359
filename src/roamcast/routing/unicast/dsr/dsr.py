"""DSR (RFC 4728): packets carry source routes, and nodes learn from the routes that they see.

A request records its path. The target, or a node that knows the rest of the path, returns it in a reply.
Nodes cache the routes that they requested, forwarded or overheard. If a link fails, the node before it sends
a route error to the node that chose the route, and salvages the packet if it knows another route. The link
layer acknowledges frames, so that packets need no acknowledgements. Differing rules of ns-2 are parameters
(`parameters.NS2`), and so is flow state, which lets packets omit their source routes.
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
    """One node's instance of DSR."""

    parameters_type = DsrParameters
    messages = (DsrRequest, DsrReply, DsrError, DsrPacket, DsrFlowPacket, DsrFlowError)
    promiscuous = True

    def __init__(self, host: Host, parameters: DsrParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.cache = PathCache(host.node, p.primary, p.secondary, p.cache_timeout)
        self.flows = Flows(host.node, p, host.incarnation) if p.flow_state else None
        self.routing = SourceRouting(self, p, self.cache, self.flows)
        self.discovery = DsrDiscovery(host, p, self.routing)
        self.maintenance = Maintenance(host, p, self.routing, self.discovery)
        self.overhearing = Overhearing(p, self.routing, self.discovery, self.maintenance)
        held = self.routing.held
        self.searches = RouteSearches(
            host, p, self.discovery.request, held.__contains__, self.routing.abandon
        )
        self.routing.ask = self.searches.ask
        self.routing.flow_unknown = self.maintenance.flow_unknown
        self.discovery.found = self.searches.found
        self.handled = None if p.ordered_requests else self.discovery.seen
        self.promiscuous = p.overhearing
        self._node = host.node
        self._steered: dict[Any, Callable[[Any, NodeId], Drop | None]] = {
            DsrPacket: self.routing.handle,
            DsrReply: self.discovery.handle_reply,
            DsrError: self.maintenance.handle_error,
            DsrFlowError: self.maintenance.handle_flow_error,
        }

    # Calls of the router.

    def start(self) -> None:
        """Do nothing: routes are discovered on demand."""

    def send(self, message: Message, to: NodeId) -> None:
        """Send a message to a node over several hops; a message to this node itself is not sent."""
        if to == self._node:
            self.host.drop(Datagram(self._node, to, 0, message), Drop.MALFORMED)
        else:
            self.routing.send(message, to)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """Return the next hop of the shortest cached route to `destination`, if there is one; None for this
        node itself."""
        path = self.cache.find(destination, self.host.now())
        return None if path is None or len(path) < 2 else path[1]

    def neighbours(self) -> Collection[NodeId]:
        """Return the next hops of cached routes."""
        return list(dict.fromkeys(path[1] for path in self.cache.paths()))

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes: routes, buffer, seen requests and packets, searches, shortcuts and flows."""
        p, held = self.parameters, self.routing.held
        seen, overheard = len(self.discovery.seen), len(self.overhearing.overheard)
        rounds, shortcuts = len(self.searches.rounds), len(self.overhearing.shortcuts)
        tables = {
            "ways": Footprint(len(self.cache), self.cache.bytes(), p.primary + p.secondary),
            "held": Footprint(len(held), held.bytes(), p.buffer),
            "requests": Footprint(seen, 6 * seen, p.requests),
            "tapped": Footprint(overheard, 6 * overheard, p.overheard_limit),
            "searches": Footprint(rounds, 12 * rounds, p.targets),
            "shortcuts": Footprint(shortcuts, 16 * shortcuts, p.gratuitous_table),
        }
        if self.flows is not None:
            tables["flows"] = Footprint(len(self.flows), self.flows.bytes(), p.flows)
        return tables

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Learn from a message, and handle it."""
        take = self._steered.get(type(message))
        if take is not None:
            route, at = message.route, message.at
            if route[at] != self._node or route[at - 1] != sender:
                return Drop.MALFORMED  # the sender is not the previous hop of the route
            return take(message, sender)
        if type(message) is DsrRequest:
            return self.discovery.handle_request(message, sender)
        return self.routing.handle_flow_packet(message, sender)

    def overhear(self, message: Any, sender: NodeId, to: NodeId, signal: float) -> None:
        """Learn from an overheard message."""
        self.overhearing.overhear(message, sender, to)

    def neighbour_appeared(self, neighbour: NodeId) -> None:
        """Repeat all route requests: the neighbour may be on the routes searched for."""
        self.searches.restart()

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Remove the routes over a failed link, report it to the origins, and salvage the messages."""
        self.maintenance.link_failed(message, to)
