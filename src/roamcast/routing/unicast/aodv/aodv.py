"""AODV (RFC 3561): routes are discovered on demand and kept while they are used.

A route request floods in expanding rings. Each node that repeats it stores the reverse route, and the reply
sets up the forward route. Sequence numbers, which each destination assigns, distinguish new routes from old
ones. A failed link invalidates the routes over it: their known users receive a route error, or the node at
the break searches for another route (local repair). Differing rules of ns-2 are parameters
(`parameters.NS2`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId
from roamcast.routing.state.neighbours import Neighbours
from roamcast.routing.state.serials import SERIALS
from roamcast.routing.state.timing import call_every
from roamcast.routing.unicast.aodv.discovery import AodvDiscovery
from roamcast.routing.unicast.aodv.exchange import RequestReply
from roamcast.routing.unicast.aodv.forwarding import DatagramForwarding
from roamcast.routing.unicast.aodv.messages import RouteError, RouteReply, RouteRequest
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.route_errors import RouteErrors
from roamcast.routing.unicast.aodv.routes import AodvRoute, AodvRouteTable
from roamcast.routing.unicast.unicast import Datagram, Unicast, UnicastUser

ROUTE_BYTES = 26
"Size of a route [B]: destination, neighbour, hops, sequence number, flags, lifetime and ring."


class Aodv(Unicast):
    """One node's instance of AODV."""

    parameters_type = AodvParameters
    messages = (RouteRequest, RouteReply, RouteError, Datagram)

    def __init__(self, host: Host, parameters: AodvParameters, user: UnicastUser) -> None:
        super().__init__(host, parameters, user)
        self.parameters = p = parameters
        self.routes = AodvRouteTable(
            p.destinations, p.tick, p.delete_period, repairs_count=p.local_repair == "ns2"
        )
        self.breaks = RouteErrors(host, p, self.routes)
        self.forwarding = DatagramForwarding(self, p, self.routes, self.breaks)
        self.exchange = RequestReply(host, p, self.routes, self.breaks)
        self.discovery = AodvDiscovery(host, p, self.routes, self.exchange.request, self.forwarding)
        self.exchange.found = self._found
        self.forwarding.ask = self._ask
        # Duplicate requests create routes to neighbours, unless these routes are disabled.
        self.handled = None if p.neighbour_routes or p.request_memory else self.exchange.seen
        self._hellos: Neighbours | None = None
        if p.hello_interval:
            silence = p.allowed_hello_loss * p.hello_interval
            self._hellos = Neighbours(host, silence, p.destinations, self._handle_break)
        self._neighbour_routes = p.neighbour_routes
        self._entries = self.routes.entries
        self._life = p.active_route_timeout
        self._node = host.node
        self._handlers: dict[Any, Callable[[Any, NodeId], Drop | None]] = {
            RouteRequest: self.exchange.handle_request,
            RouteReply: self._handle_reply,
            RouteError: self._handle_error,
            Datagram: self._handle_datagram,
        }

    # Calls of the router.

    def start(self) -> None:
        """Start; after a crash, stay silent until other nodes have expired the routes through this node."""
        if self.host.incarnation:
            self._listen()
            self.host.call_later(self.parameters.reboot_wait, self._begin)
        if self.parameters.hello_interval:
            call_every(self.host, self.parameters.hello_interval, self._hello)

    def send(self, message: Message, to: NodeId) -> None:
        """Send a message to a node over several hops; a message to this node itself is not sent."""
        datagram = Datagram(self.host.node, to, self.parameters.diameter, message)
        if to == self.host.node:
            self.host.drop(datagram, Drop.MALFORMED)
        else:
            self.forwarding.send(datagram)

    def next_hop(self, destination: NodeId) -> NodeId | None:
        """Return the next hop of the route to `destination`, if there is one."""
        route = self.routes.peek(destination, self.host.now())
        return None if route is None else route.hop

    def neighbours(self) -> Collection[NodeId]:
        """Return the next hops of valid routes."""
        now = self.host.now()
        return list(dict.fromkeys(r.hop for r in self.routes if self.routes.peek(r.destination, now)))

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes: routes with precursors, buffer, seen requests, searches and blacklist."""
        p, routes = self.parameters, len(self.routes)
        held, seen = self.forwarding.held, len(self.exchange.seen)
        users = sum(len(route.precursors) for route in self.routes)
        searches, ignored = len(self.discovery.searches), len(self.exchange.blacklist)
        return {
            "routes": Footprint(routes, ROUTE_BYTES * routes, p.destinations),
            "precursors": Footprint(users, 4 * users, p.destinations * p.precursors),
            "held": Footprint(len(held), held.bytes(), p.buffer),
            "requests": Footprint(seen, 8 * seen, p.requests),
            "searches": Footprint(searches, 24 * searches, p.destinations),
            "blacklist": Footprint(ignored, 12 * ignored, p.destinations),
        }

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Update routes from a message, and handle it."""
        if self._neighbour_routes:
            route = self._entries.get(sender)
            if route is not None and route.up and route.hop == sender:  # most senders are known
                expires = self.host.now() + self._life
                route.expires = max(route.expires, expires)
            elif sender != self._node:
                self._add_neighbour(sender, self.host.now())
        return self._handlers[type(message)](message, sender)

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Invalidate the routes over a neighbour, and repair or salvage the message."""
        p = self.parameters
        if type(message) is Datagram:
            route = self.routes.entries.get(message.destination)
            if route is not None and self.forwarding.repairs(message, route, to):
                self.forwarding.repair(message, route)
            else:
                self._handle_break(to)
                self.forwarding.salvage(message)
            return
        if type(message) is RouteReply and p.blacklist:
            now = self.host.now()
            self.exchange.blacklist.sweep(now)
            self.exchange.blacklist.renew(to, True, now)
        if p.control_breaks:
            self._handle_break(to)

    # Callbacks between the parts of AODV.

    def _ask(self, destination: NodeId, repair: int) -> None:
        if not self.exchange.listens():
            self.discovery.ask(destination, repair)

    def _found(self, route: AodvRoute, replied: bool) -> None:
        """Handle a new route: end its search and send the waiting messages."""
        requested = route.destination in self.discovery.searches
        if requested or replied:
            self.discovery.found(route, replied)
        if requested and not replied:
            route.expires = max(route.expires, self.host.now() + self.parameters.active_route_timeout)
        self.forwarding.release(route)

    def _handle_break(self, neighbour: NodeId) -> None:
        """Handle the loss of a neighbour: its routes, and messages for it in the link layer's queue."""
        if self._hellos is not None:
            self._hellos.forget(neighbour)
        if self.parameters.parity:
            self.exchange.sequence = (self.exchange.sequence + 2) % SERIALS  # ns-2: the neighbourhood changed
        self.breaks.invalidate(neighbour)
        self.forwarding.withdraw(neighbour)

    # Messages from neighbours.

    def _handle_datagram(self, datagram: Datagram, sender: NodeId) -> Drop | None:
        if sender == self.host.node:
            return Drop.MALFORMED
        if datagram.destination != self.host.node and self.exchange.listens():
            self._listen()  # other nodes still use the forgotten routes
        return self.forwarding.handle(datagram, sender)

    def _handle_reply(self, reply: RouteReply, sender: NodeId) -> Drop | None:
        if reply.destination == sender == reply.origin != self.host.node:
            self._handle_hello(reply, sender)
            return None
        return self.exchange.handle_reply(reply, sender)

    def _handle_error(self, error: RouteError, sender: NodeId) -> Drop | None:
        if sender == self.host.node:
            return Drop.MALFORMED
        broken = self.breaks.handle(error, sender)
        if broken and self.parameters.errors_empty_queue:
            self.forwarding.empty(sender)
        return None if broken else Drop.NOT_MINE

    # Neighbours.

    def _add_neighbour(self, neighbour: NodeId, now: float) -> None:
        """Make the one-hop route to a neighbour valid; its sequence number does not change."""
        route = self.routes.entry(neighbour)
        route.known = self.routes.numbered(route, now)
        route.hop, route.hops, route.up, route.repairing = neighbour, 1, True, False
        route.expires = now + self._life
        self._found(route, False)

    def _hello(self) -> None:
        """Broadcast a hello while this node has active routes."""
        now = self.host.now()
        if not self.exchange.listens() and any(self.routes.peek(r.destination, now) for r in self.routes):
            p, node = self.parameters, self.host.node
            life = int(1000 * p.allowed_hello_loss * p.hello_interval)
            hello = RouteReply(self.exchange.stamp, 0, node, self.exchange.sequence, node, life)
            self.host.broadcast(hello)

    def _handle_hello(self, hello: RouteReply, sender: NodeId) -> None:
        now = self.host.now()
        life = min(hello.lifetime / 1000, self.parameters.my_route_timeout)
        route = self.routes.offer(sender, sender, 1, hello.destination_sequence, now=now, life=life)
        if route is not None:
            self._found(route, False)
        if self._hellos is not None:
            self._hellos.hear(sender, now)

    # After a crash.

    def _listen(self) -> None:
        self.exchange.listening_until = self.host.now() + self.parameters.reboot_wait

    def _begin(self) -> None:
        """Start searches for the messages that were sent during the silent period."""
        left = self.exchange.listening_until - self.host.now()
        if left > 0:
            self.host.call_later(left, self._begin)
            return
        for destination in self.forwarding.held.destinations():
            self.forwarding.retry(destination)
