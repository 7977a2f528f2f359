"""The route table of AODV, and the rules that keep routes free of loops.

Along every route, the sequence number of the destination does not decrease, and where it is equal the hop
count decreases. A route is therefore replaced only by one with a newer number, or with the same number and
fewer hops. A route that breaks or expires increments its number, so that an old route through this node is
not accepted again. The number is kept until no neighbour can still have a route through this node: longer
than the lifetime of any route after the last message that could have used it.
"""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.routing.router import NodeId
from roamcast.routing.state.serials import SERIALS, is_newer

INFINITE = 256
"Hop count of an invalid route."


class AodvRoute:
    """A node's state about one destination."""

    __slots__ = (
        "destination",
        "expires",
        "hop",
        "hops",
        "known",
        "last_hops",
        "measured",
        "precursors",
        "repairing",
        "ring",
        "sequence",
        "up",
    )

    def __init__(self, destination: NodeId) -> None:
        self.destination = destination
        self.hop: NodeId = -1
        self.hops = INFINITE
        self.sequence = 0
        self.known = False
        "Whether the sequence number is known."
        self.up = False
        "Whether the route is valid, until it expires."
        self.repairing = False
        "Whether this node is repairing the route."
        self.expires = 0.0
        "Expiry time [s]; of an invalid route, the last time when it was valid or a neighbour relied on it."
        self.precursors: dict[NodeId, None] = {}
        "Neighbours that are known to use the route."
        self.last_hops = 0
        "Hop count before the route broke; 0: never known."
        self.ring = 0
        "TTL of the last request, or hop count of the route that was found; 0: no request yet."
        self.measured: list[float] = []
        "Time per hop in the last discoveries [s]."

    def set(self, hop: NodeId, hops: int, sequence: int, expires: float) -> None:
        """Make the route valid, with a neighbour as next hop."""
        self.hop, self.hops, self.sequence, self.expires = hop, hops, sequence, expires
        self.known = self.up = True
        self.repairing = False

    def use_by(self, neighbour: NodeId, most: int) -> None:
        """Add a neighbour to the precursors."""
        self.precursors[neighbour] = None
        if len(self.precursors) > most:
            del self.precursors[next(iter(self.precursors))]

    def invalidate(self, sequence: int | None = None) -> None:
        """Invalidate the route, with the sequence number of an error or the next one."""
        if sequence is not None and (not self.known or not is_newer(self.sequence, sequence)):
            self.sequence = sequence
        elif self.known:
            self.sequence = (self.sequence + 1) % SERIALS
        if self.hops < INFINITE:
            self.last_hops = self.hops
        self.hops = INFINITE
        self.up = self.repairing = False


class AodvRouteTable:
    """Routes by destination, at most `limit`; the least recently changed is evicted."""

    def __init__(self, limit: int, tick: float, kept: float = 0.0, *, repairs_count: bool = False) -> None:
        self.limit = limit
        self._repairs_count = repairs_count
        "Whether a route under repair is used for replies and can break like a valid one, as in ns-2."
        self.entries: dict[NodeId, AodvRoute] = {}
        "In order of change, oldest first."
        self._tick = tick
        self._kept = kept
        "Time for which the sequence number of an unused route is kept [s]; 0: unlimited."

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[AodvRoute]:
        return iter(self.entries.values())

    def entry(self, destination: NodeId) -> AodvRoute:
        """Return the entry of a destination, and create it if necessary."""
        route = self.entries.get(destination)
        if route is None:
            if len(self.entries) >= self.limit:
                del self.entries[next(iter(self.entries))]
            route = self.entries[destination] = AodvRoute(destination)
        return route

    def live(self, destination: NodeId, now: float) -> AodvRoute | None:
        """Return the route to a destination if it is valid; an expired one is invalidated."""
        route = self.entries.get(destination)
        if route is None or not route.up:
            return None
        if route.expires <= now and self._has_lapsed(route, now):
            route.invalidate()
            return None
        return route

    def peek(self, destination: NodeId, now: float) -> AodvRoute | None:
        """Return the route to a destination if it is valid, without changes."""
        route = self.entries.get(destination)
        if route is None or not route.up or self._has_lapsed(route, now):
            return None
        return route

    def usable(self, destination: NodeId, now: float) -> AodvRoute | None:
        """Return the valid route to a destination; by ns-2's rule, also one under repair."""
        route = self.entries.get(destination)
        if route is not None and route.repairing and self._repairs_count:
            return route
        return self.live(destination, now)

    def breakable(self, route: AodvRoute) -> bool:
        """Return whether an error or a link failure can invalidate a route."""
        return route.up or (route.repairing and self._repairs_count)

    def repairs(self, destination: NodeId) -> bool:
        """Return whether this node is repairing the route to a destination."""
        route = self.entries.get(destination)
        return route is not None and route.repairing

    def numbered(self, route: AodvRoute, now: float) -> bool:
        """Return whether a route's sequence number is known and has not been discarded."""
        return route.known and (not self._kept or now < route.expires + self._kept)

    def relied_on(self, destination: NodeId, now: float) -> None:
        """Keep an invalid route's sequence number for longer, since a neighbour relies on it.

        A number that has been discarded is not restored.
        """
        route = self.entries.get(destination)
        if route is not None and not route.up and self.numbered(route, now):
            route.expires = max(route.expires, now)

    def offer(
        self, destination: NodeId, hop: NodeId, hops: int, sequence: int, *, now: float, life: float
    ) -> AodvRoute | None:
        """Accept a route that is newer, or equally new and shorter; return None if it is rejected."""
        route = self.entry(destination)
        if self.numbered(route, now):
            shorter = sequence == route.sequence and hops < route.hops
            if not shorter and not is_newer(sequence, route.sequence):
                return None
        route.set(hop, hops, sequence, now + life)
        del self.entries[destination]
        self.entries[destination] = route
        return route

    def confirm(
        self, destination: NodeId, hop: NodeId, hops: int, sequence: int, *, now: float, life: float
    ) -> AodvRoute | None:
        """Extend the lifetime of the existing route if it is identical; otherwise return None."""
        route = self.entries.get(destination)
        if route is None or not route.up or (route.hop, route.hops, route.sequence) != (hop, hops, sequence):
            return None
        route.expires = max(route.expires, now + life)
        return route

    def over(self, hop: NodeId) -> list[AodvRoute]:
        """Return the routes over a neighbour that can break."""
        return [route for route in self.entries.values() if route.hop == hop and self.breakable(route)]

    def _has_lapsed(self, route: AodvRoute, now: float) -> bool:
        return route.expires <= (now - now % self._tick if self._tick else now)
