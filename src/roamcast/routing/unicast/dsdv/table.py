"""The route table of DSDV."""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.dsdv.known_routes import KnownRoutes
from roamcast.routing.unicast.dsdv.messages import INFINITY

NEVER = float("inf")


class DsdvRoute:
    """A node's state about one destination."""

    __slots__ = (
        "changed_at",
        "destination",
        "hop",
        "last_advertised",
        "metric",
        "new_metric",
        "new_sequence",
        "sequence",
        "sequence_since",
        "settled_at",
        "settling",
        "trigger_at",
    )

    def __init__(
        self, destination: NodeId, hop: NodeId, metric: int, sequence: int, *, now: float, settling: float
    ) -> None:
        self.destination = destination
        self.hop = hop
        self.metric = metric
        "Hops to the destination; INFINITY for a broken route."
        self.sequence = sequence
        "Even if the destination assigned it, odd if a node reported the route as broken."
        self.changed_at = now
        self.sequence_since = now
        "Time at which the current sequence number was first received [s]."
        self.settling = settling
        "Smoothed time from the first to the best route of a sequence number [s]."
        self.settled_at = NEVER
        "The route is not reported to neighbours before this time [s]."
        self.last_advertised = 0
        "The metric in the last update from this node."
        self.new_sequence = False
        self.new_metric = False
        self.trigger_at = NEVER
        "Time at which the next triggered update of this route is due [s]."

    @property
    def usable(self) -> bool:
        """Return whether the route can be used."""
        return self.metric < INFINITY


class DsdvRouteTable:
    """Routes by destination, at most `limit`; the least recently changed is evicted."""

    def __init__(self, limit: int) -> None:
        self.routes: dict[NodeId, DsdvRoute] = {}
        "In order of change, oldest first."
        self.known = KnownRoutes(INFINITY)
        "Sequence number and metric of each route."
        self._limit = limit
        self.full = False
        "Whether another route would evict one; routes are removed by eviction only."

    def __len__(self) -> int:
        return len(self.routes)

    def __iter__(self) -> Iterator[DsdvRoute]:
        return iter(self.routes.values())

    def get(self, destination: NodeId) -> DsdvRoute | None:
        """Return the route to `destination`, broken or not."""
        return self.routes.get(destination)

    def add(self, route: DsdvRoute) -> DsdvRoute | None:
        """Add a route; return the evicted route."""
        evicted = None
        if self.full:
            evicted = self.routes.pop(next(iter(self.routes)))
            self.known.discard(evicted.destination)
        self.routes[route.destination] = route
        self.known.set(route.destination, route.sequence, route.metric)
        self.full = len(self.routes) >= self._limit
        return evicted

    def touch(self, route: DsdvRoute) -> None:
        """Record a change of `route`: it is now the most recently changed."""
        destination = route.destination
        del self.routes[destination]
        self.routes[destination] = route
        self.known.set(destination, route.sequence, route.metric)

    def break_off(self, route: DsdvRoute, sequence: int) -> None:
        """Mark `route` as broken, with the sequence number by which this is reported."""
        route.metric, route.sequence = INFINITY, sequence
        self.known.set(route.destination, sequence, INFINITY)

    def through(self, hop: NodeId) -> list[DsdvRoute]:
        """Return the usable routes over the neighbour `hop`."""
        return [route for route in self.routes.values() if route.hop == hop and route.metric < INFINITY]
