"""Route discovery of AODV: expanding rings, reply timeouts and limits."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from roamcast.routing.router import Host, NodeId, Timer
from roamcast.routing.unicast.aodv.forwarding import DatagramForwarding
from roamcast.routing.unicast.aodv.parameters import AodvParameters
from roamcast.routing.unicast.aodv.routes import AodvRoute, AodvRouteTable
from roamcast.routing.unicast.rate_limit import RateLimit

TICK = 1e-6
"Timer tolerance [s]: a time within this distance counts as due."


class RouteSearch:
    """A search for a route."""

    __slots__ = ("asked_at", "due", "everywhere", "repair", "timer")

    def __init__(self) -> None:
        self.asked_at: float | None = None
        self.due = 0.0
        "Earliest time of the next request [s]."
        self.everywhere = 0
        "Number of requests to the whole network so far."
        self.repair = 0
        "Hops of the single request of a local repair; 0: no repair."
        self.timer: Timer | None = None


class AodvDiscovery:
    """A node's searches, one per destination, limited by the number of waiting messages."""

    def __init__(
        self,
        host: Host,
        parameters: AodvParameters,
        routes: AodvRouteTable,
        request: Callable[[AodvRoute, int], None],
        forwarding: DatagramForwarding,
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.searches: dict[NodeId, RouteSearch] = {}
        self._routes = routes
        self._request = request
        self._forwarding = forwarding
        self._rate = RateLimit(parameters.rreq_rate)

    def ask(self, destination: NodeId, repair: int = 0) -> None:
        """Start a search unless one is in progress; a repair sends one request over `repair` hops."""
        search = self.searches.get(destination)
        if search is None:
            if len(self.searches) >= self.parameters.destinations:
                first = next(iter(self.searches))
                self._end(first, self.searches[first], quietly=False)
            search = self.searches[destination] = RouteSearch()
            search.repair = repair
        if search.due <= self.host.now() + TICK:
            self._ask(destination, search)

    def found(self, route: AodvRoute, replied: bool) -> None:
        """End the search for a route that is now known, by a reply or otherwise."""
        search = self.searches.pop(route.destination, None)
        route.ring = route.hops
        if search is None:
            return
        if search.timer is not None:
            search.timer.cancel()
        if replied and self.parameters.measured_hops and search.asked_at is not None:
            route.measured.append((self.host.now() - search.asked_at) / route.hops)
            del route.measured[: -self.parameters.measured_hops]

    def forget(self, destination: NodeId) -> None:
        """End the search for a destination without waiting messages."""
        search = self.searches.pop(destination, None)
        if search is not None and search.timer is not None:
            search.timer.cancel()

    def _ask(self, destination: NodeId, search: RouteSearch) -> None:
        p, now = self.parameters, self.host.now()
        if search.repair and search.asked_at is not None:
            self._end(destination, search)
            return
        if search.everywhere > p.rreq_retries:
            self._end(destination, search)
            return
        wait = self._rate.wait(now)
        if wait > 0:
            self._retry_at(destination, search, now + wait)
            return
        self._rate.record(now)
        route = self._routes.entry(destination)
        ttl = search.repair or self._ring(route, search)
        if ttl >= p.diameter:
            ttl = p.diameter
            search.everywhere += 1
        route.ring = ttl
        search.asked_at = now
        self._retry_at(destination, search, now + self._reply_timeout(route, search, ttl))
        self._request(route, ttl)

    def _ring(self, route: AodvRoute, search: RouteSearch) -> int:
        """Return the TTL of the next request [hops]."""
        p = self.parameters
        if p.threshold_first:
            if not route.last_hops:
                return p.diameter  # ns-2 does not know the length of a route that has never been down
            reached = max(route.ring, route.last_hops)
            return reached + p.ttl_increment if reached < p.ttl_threshold else p.diameter
        if search.asked_at is None:
            return route.last_hops + p.ttl_increment if route.last_hops else p.ttl_start
        return (
            min(route.ring + p.ttl_increment, p.ttl_threshold) if route.ring < p.ttl_threshold else p.diameter
        )

    def _reply_timeout(self, route: AodvRoute, search: RouteSearch, ttl: int) -> float:
        """Return the time to wait for replies [s]."""
        p = self.parameters
        hop = sum(route.measured) / len(route.measured) if route.measured else p.node_traversal
        if search.everywhere and p.doubling:
            wait = 2 * hop * ttl * (1 << min(search.everywhere - 1, 16))
        else:
            wait = 2 * hop * (ttl + p.timeout_buffer) * max(search.everywhere, 1)
        return min(wait, p.longest_wait)

    def _retry_at(self, destination: NodeId, search: RouteSearch, due: float) -> None:
        now, tick = self.host.now(), self.parameters.tick
        search.due = due
        at = ceil(due / tick) * tick if tick else due
        if search.timer is not None:
            search.timer.cancel()
        search.timer = self.host.call_later(max(at - now, 0.0), self._wake, destination)

    def _wake(self, destination: NodeId) -> None:
        search = self.searches.get(destination)
        if search is None:
            return
        search.timer = None
        if search.repair or destination in self._forwarding.held:
            self._ask(destination, search)
        else:
            del self.searches[destination]

    def _end(self, destination: NodeId, search: RouteSearch, *, quietly: bool = True) -> None:
        """End a failed search: drop the waiting messages, and block new searches for a while."""
        p = self.parameters
        self.forget(destination)
        self._forwarding.abandon(destination, search.repair > 0)
        if p.silence and quietly and not search.repair:
            # After a network-wide search, the next one does not start with a small ring.
            self.searches[destination] = silent = RouteSearch()
            self._retry_at(destination, silent, self.host.now() + p.silence)
        else:
            self._routes.entry(destination).ring = 0
