"""Carrying datagrams: hop by hop, waiting where there is no route, and around breaks."""

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
        "Asks for a route; a repair says how far."
        self._unicast = unicast
        self._life = p.active_route_timeout

    def send(self, datagram: Datagram) -> None:
        """Send a datagram of this node on its way, or ask for one."""
        route = self.routes.live(datagram.destination, self.host.now())
        if route is not None:
            self._pass_on(datagram, route)
        else:
            self._hold(datagram)
            self.ask(datagram.destination, 0)

    def handle(self, datagram: Datagram, sender: NodeId) -> Drop | None:
        """Hand over what has arrived, pass on the rest; without a route, say so to who sent it."""
        now = self.host.now()
        if self.parameters.refresh_both_ways:
            # The way back is taken for the same as the way here, where it is the same.
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

    # What waits.

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
        """Send what waited for a route."""
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
        """Send what waits, or ask for a route to it."""
        if destination not in self.held:
            return
        route = self.routes.live(destination, self.host.now())
        if route is not None:
            self.release(route)
        else:
            self.ask(destination, 0)

    def give_up(self, destination: NodeId, repair: bool) -> None:
        """A search has failed: let go what waits for it, and after a repair tell who used the route."""
        if repair:
            route = self.routes.entry(destination)
            route.repairing = False
            self.breaks.send_errors([route])
            route.precursors.clear()
        for waiting in self.held.release(destination):
            self._drop(waiting, Drop.NO_ROUTE)

    # Around breaks.

    def repairs(self, datagram: Datagram, route: AodvRoute, to: NodeId) -> bool:
        """Whether this node repairs the route of a datagram that the link could not bring to `to`.

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
        """Look for another way to the destination of a datagram, which waits for it."""
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
        """See to what waits in the link for a neighbour that is gone."""
        for message in self.host.withdraw(neighbour):
            self._forward_waiting(message, neighbour)

    def empty(self, neighbour: NodeId) -> None:
        """Let go the datagrams that wait in the link for a neighbour."""
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
            self.host.send(message, neighbour)  # the router's own: it is told when the link gives up

    def salvage(self, datagram: Datagram) -> None:
        """Ask anew for a datagram of one's own; let go what is another's."""
        if datagram.origin == self.host.node and self.parameters.keep_own:
            self._hold(datagram)
            self.host.call_later(0.0, self.retry, datagram.destination)  # once the break is settled
        else:
            self._fail(datagram, Drop.NO_ROUTE)


def _ignore(destination: NodeId, repair: int) -> None:
    """Until somebody is to be asked."""
