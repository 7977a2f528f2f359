"""The routing table of a distance-vector protocol: who is reached through whom, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.routing.router import NodeId
from roamcast.routing.unicast.dsdv.messages import INFINITY

NEVER = float("inf")


class DsdvRoute:
    """What a node believes about one destination."""

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
        "Hops to the destination; INFINITY when the route is broken."
        self.sequence = sequence
        "Even when the destination gave it out, odd when someone found the route broken."
        self.changed_at = now
        self.sequence_since = now
        "When the present sequence number was first heard."
        self.settling = settling
        "Smoothed time from the first to the best route of a sequence number."
        self.settled_at = NEVER
        "The route is not told to others before this time."
        self.last_advertised = 0
        "The metric that others heard from here last."
        self.new_sequence = False
        self.new_metric = False
        self.trigger_at = NEVER
        "When news of this route is due."

    @property
    def usable(self) -> bool:
        """Whether packets can take it."""
        return self.metric < INFINITY


class DsdvRouteTable:
    """Routes by destination, never more than `limit`: the one that changed longest ago makes room."""

    def __init__(self, limit: int) -> None:
        self.routes: dict[NodeId, DsdvRoute] = {}
        "In order of change, oldest first."
        self._limit = limit

    def __len__(self) -> int:
        return len(self.routes)

    def __iter__(self) -> Iterator[DsdvRoute]:
        return iter(self.routes.values())

    def get(self, destination: NodeId) -> DsdvRoute | None:
        """The route to `destination`, broken or not."""
        return self.routes.get(destination)

    def add(self, route: DsdvRoute) -> DsdvRoute | None:
        """Enter a new route; the value is the route that had to go for it."""
        evicted = None
        if len(self.routes) >= self._limit:
            evicted = self.routes.pop(next(iter(self.routes)))
        self.routes[route.destination] = route
        return evicted

    def touch(self, route: DsdvRoute) -> None:
        """Note that `route` changed: it is now the last to make room."""
        del self.routes[route.destination]
        self.routes[route.destination] = route

    def through(self, hop: NodeId) -> list[DsdvRoute]:
        """The usable routes that lead over the neighbour `hop`."""
        return [route for route in self.routes.values() if route.hop == hop and route.metric < INFINITY]
