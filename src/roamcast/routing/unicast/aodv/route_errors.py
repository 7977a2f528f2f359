"""Route errors of AODV: recipients, and the effect of a received error."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from roamcast.routing.router import Host, NodeId
from roamcast.routing.state.serials import is_newer
from roamcast.routing.state.timing import call_within
from roamcast.routing.unicast.aodv.messages import NO_DELETE, RouteError, Unreachable
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.routes import AodvRoute, AodvRouteTable
from roamcast.routing.unicast.rate_limit import RateLimit

AT_ONCE = 255
"Maximum number of destinations in an error."


class RouteErrors:
    """A node's handling of route errors."""

    def __init__(self, host: Host, parameters: AodvParameters, routes: AodvRouteTable) -> None:
        self.host = host
        self.parameters = parameters
        self._routes = routes
        self._rate = RateLimit(parameters.rerr_rate)

    def invalidate(self, hop: NodeId, but: NodeId | None = None) -> None:
        """Invalidate the routes over a neighbour, except one under repair, and report them to their users."""
        broken = [route for route in self._routes.over(hop) if route.destination != but]
        for route in broken:
            route.invalidate()
        self.send_errors(broken, to_all=self.parameters.error_to_all)
        for route in self._routes:
            route.precursors.pop(hop, None)

    def refuse(self, destination: NodeId, neighbour: NodeId) -> None:
        """Report to a neighbour and to the precursors that a destination is unreachable."""
        route = self._routes.entry(destination)
        self._send([Unreachable(destination, route.sequence)], {neighbour: None, **route.precursors})

    def send_errors(
        self, broken: Iterable[AodvRoute], *, to_all: bool = False, flags: int = 0, jitter: float = 0.0
    ) -> None:
        """Report broken routes to their precursors, or broadcast all of them."""
        users: dict[NodeId, None] = {}
        unreachable = []
        for route in broken:
            if route.precursors or to_all:
                unreachable.append(Unreachable(route.destination, route.sequence))
                users |= route.precursors
        for first in range(0, len(unreachable), AT_ONCE):
            self._send(unreachable[first : first + AT_ONCE], users, flags, jitter)

    def handle(self, error: RouteError, sender: NodeId) -> bool:
        """Invalidate the routes of an error and forward it; return False if none led over the sender."""
        broken = []
        concerned = False
        for destination, sequence in error.unreachable:
            route = self._routes.entries.get(destination)
            if route is None or not self._routes.breakable(route) or route.hop != sender:
                continue
            if is_newer(route.sequence, sequence) and route.known and not self.parameters.stale_errors:
                continue
            concerned = True
            if not error.flags & NO_DELETE:
                route.invalidate(sequence)
            broken.append(route)
        self.send_errors(broken, flags=error.flags, jitter=self.parameters.jitter)
        if not error.flags & NO_DELETE:
            for route in broken:
                route.precursors.clear()
        return concerned

    def _send(
        self, unreachable: list[Unreachable], users: Collection[NodeId], flags: int = 0, jitter: float = 0.0
    ) -> None:
        now = self.host.now()
        if self._rate.wait(now) > 0:
            return
        self._rate.record(now)
        error = RouteError(flags, tuple(unreachable))
        if self.parameters.error_unicast and len(users) == 1:
            self.host.send(error, next(iter(users)))
        elif jitter:
            call_within(self.host, jitter, self.host.broadcast, error)
        else:
            self.host.broadcast(error)
