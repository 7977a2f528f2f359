"""Forwarding of datagrams in AODV: buffering without a route, local repair and salvage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast.routing.router import Drop, Host, NodeId
from roamcast.routing.unicast.aodv.messages import RouteError, RouteReply
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.route_errors import RouteErrors
from roamcast.routing.unicast.aodv.routes import AodvRoute, AodvRouteTable
from roamcast.routing.unicast.send_buffer import BufferedMessage, SendBuffer
from roamcast.routing.unicast.unicast import Datagram, Unicast


class DatagramForwarding:
    """A node's datagrams."""

    def __init__(
        self, unicast: Unicast, parameters: AodvParameters, routes: AodvRouteTable, breaks: RouteErrors
    ) -> None:
        self.host: Host = unicast.host
        self.parameters = p = parameters
        self.routes = routes
        self.breaks = breaks
        self.held = SendBuffer(p.buffer, p.buffer_timeout)
        self.ask: Callable[[NodeId, int], None] = _ignore
        "Starts a search for a route; for a repair, with its TTL."
        self._unicast = unicast
        self._life = p.active_route_timeout

    def send(self, datagram: Datagram) -> None:
        """Send a datagram of this node, or buffer it and search for a route."""
        route = self.routes.live(datagram.destination, self.host.now())
        if route is not None:
            self._pass_on(datagram, route)
        else:
            self._hold(datagram)
            self.ask(datagram.destination, 0)

    def handle(self, datagram: Datagram, sender: NodeId) -> Drop | None:
        """Deliver or forward a datagram; without a route, send a route error to the previous hop."""
        now = self.host.now()
        if self.parameters.refresh_both_ways:
            # The reverse path is assumed to be the same as the forward path.
            self._refresh(datagram.origin, sender, now)
        self.routes.relied_on(datagram.origin, now)
        if datagram.destination == self.host.node:
            return self._unicast.user.arrive(datagram.payload, datagram.origin, sender)
        if datagram.hops <= 1 or datagram.origin == self.host.node:
            self.host.drop(datagram, Drop.HOP_LIMIT, datagram.destination)
            return None
        onward = Datagram(datagram.origin, datagram.destination, datagram.hops - 1, datagram.payload)
        route = self.routes.live(datagram.destination, now)
        if route is not None:
            self._pass_on(onward, route)
        elif self.routes.repairs(datagram.destination):
            self._hold(onward)
        else:
            self.routes.relied_on(datagram.destination, now)
            self.breaks.refuse(datagram.destination, sender)
            self._fail(datagram, Drop.NO_ROUTE)
        return None

    def _pass_on(self, datagram: Datagram, route: AodvRoute) -> None:
        now = self.host.now()
        route.expires = max(route.expires, now + self._life)
        if self.parameters.refresh_both_ways:
            self._refresh(route.hop, route.hop, now)
        self.host.send(datagram, route.hop)

    def _refresh(self, destination: NodeId, over: NodeId, now: float) -> None:
        route = self.routes.live(destination, now)
        if route is not None and route.hop == over:
            route.expires = max(route.expires, now + self._life)

    # The buffer.

    def _hold(self, datagram: Datagram) -> None:
        now = self.host.now()
        self._drop_expired(now)
        for displaced in self.held.add(datagram, datagram.destination, now):
            self._drop(displaced, Drop.TABLE_FULL)

    def _drop_expired(self, now: float) -> None:
        for late in self.held.lapsed(now):
            self._drop(late, Drop.EXPIRED)

    def _drop(self, waiting: BufferedMessage, reason: Drop) -> None:
        assert isinstance(waiting.message, Datagram)
        self._fail(waiting.message, reason)

    def _fail(self, datagram: Datagram, reason: Drop) -> None:
        self._unicast.fail(datagram.payload, datagram.origin, datagram.destination, reason)

    def release(self, route: AodvRoute) -> None:
        """Send the datagrams that waited for a route."""
        if route.destination not in self.held:
            return
        now, delay = self.host.now(), 0.0
        self._drop_expired(now)
        for waiting in self.held.release(route.destination):
            datagram = waiting.message
            assert isinstance(datagram, Datagram)
            older = self._unicast.user.add_age(datagram.payload, now + delay - waiting.since)
            onward = Datagram(datagram.origin, datagram.destination, datagram.hops, older)
            if delay:
                self.host.call_later(delay, self._send_late, onward)
            else:
                self._pass_on(onward, route)
            delay += self.parameters.release_gap

    def _send_late(self, datagram: Datagram) -> None:
        if datagram.origin == self.host.node:
            self.send(datagram)
            return
        route = self.routes.live(datagram.destination, self.host.now())
        if route is not None:
            self._pass_on(datagram, route)
        else:
            self._fail(datagram, Drop.NO_ROUTE)

    def retry(self, destination: NodeId) -> None:
        """Send the waiting datagrams, or search for a route."""
        if destination not in self.held:
            return
        route = self.routes.live(destination, self.host.now())
        if route is not None:
            self.release(route)
        else:
            self.ask(destination, 0)

    def abandon(self, destination: NodeId, repair: bool) -> None:
        """Drop the datagrams of a failed search; after a failed repair, send a route error."""
        if repair:
            route = self.routes.entry(destination)
            route.repairing = False
            self.breaks.send_errors([route])
            route.precursors.clear()
        for waiting in self.held.release(destination):
            self._drop(waiting, Drop.NO_ROUTE)

    # Link failures.

    def repairs(self, datagram: Datagram, route: AodvRoute, to: NodeId) -> bool:
        """Return whether this node repairs the route of a datagram after the link to `to` failed.

        ns-2 also repairs a route that has changed since, or is being repaired: further datagrams wait, too.
        """
        p = self.parameters
        if datagram.origin == self.host.node:
            return False
        if p.local_repair == "ns2":
            return p.diameter - datagram.hops > route.hops
        over = route.up and route.hop == to
        return over and p.local_repair == "rfc" and route.hops <= p.repair_share * p.diameter

    def repair(self, datagram: Datagram, route: AodvRoute) -> None:
        """Buffer a datagram, and search for another route to its destination."""
        p, neighbour, there = self.parameters, route.hop, route.hops
        if p.local_repair == "ns2":
            route.up, route.repairing = False, True
            self._hold(datagram)
            self.ask(route.destination, 0)
            return
        source = self.routes.live(datagram.origin, self.host.now())
        half = (source.hops if source is not None else p.diameter - datagram.hops) // 2
        self.breaks.invalidate(neighbour, but=route.destination)
        route.invalidate()
        route.repairing = True
        self._hold(datagram)
        self.withdraw(neighbour)
        self.ask(route.destination, min(max(there, half) + p.local_add_ttl, p.diameter))

    def withdraw(self, neighbour: NodeId) -> None:
        """Buffer, salvage or drop the messages in the link layer's queue for a lost neighbour."""
        for message in self.host.withdraw(neighbour):
            self._forward_waiting(message, neighbour)

    def empty(self, neighbour: NodeId) -> None:
        """Drop the datagrams in the link layer's queue for a neighbour."""
        for message in self.host.withdraw(neighbour):
            if type(message) is Datagram:
                self._fail(message, Drop.NO_ROUTE)
            else:
                self._forward_waiting(message, neighbour)

    def _forward_waiting(self, message: Any, neighbour: NodeId) -> None:
        if type(message) is Datagram:
            if self.routes.repairs(message.destination):
                self._hold(message)
            else:
                self.salvage(message)
        elif isinstance(message, RouteReply | RouteError):
            self.host.drop(message, Drop.NO_ROUTE)
        else:
            self.host.send(message, neighbour)  # the router's own message: the link layer will report it

    def salvage(self, datagram: Datagram) -> None:
        """Search again for a datagram of this node; drop one of another node."""
        if datagram.origin == self.host.node and self.parameters.keep_own:
            self._hold(datagram)
            self.host.call_later(0.0, self.retry, datagram.destination)  # after the break has been handled
        else:
            self._fail(datagram, Drop.NO_ROUTE)


def _ignore(destination: NodeId, repair: int) -> None:
    """Ignore a search; the default callback."""
