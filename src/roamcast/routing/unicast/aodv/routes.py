"""The routes of AODV: who is reached over whom, and what keeps them free of loops.

Along every route the sequence number of the destination rises or stays, and where it stays the hops fall.
So a route is replaced only by one with a newer number, or with the same number and fewer hops; and a route
that breaks or lapses counts its number up, so that nothing that led through here can come back as news.
A number is therefore kept until no neighbour can still lead a route over here: longer than any route lives
after the last message that could have used it.
"""

from __future__ import annotations

from collections.abc import Iterator

from roamcast.routing.router import NodeId

NUMBERS = 2**32
HALF = 2**31
INFINITE = 256
"The hops of a route that is down."


def newer(a: int, b: int) -> bool:
    """Whether a sequence number comes after another, counted in a circle."""
    return 0 < (a - b) % NUMBERS < HALF


class AodvRoute:
    """What a node knows of one destination."""

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
        "Whether the sequence number means something."
        self.up = False
        "Whether messages may take it, until it lapses."
        self.repairing = False
        "Whether this node looks for another way after a break."
        self.expires = 0.0
        "When it lapses; of a route that is down, when it last was up or a neighbour relied on it."
        self.precursors: dict[NodeId, None] = {}
        "Neighbours that are known to use it."
        self.last_hops = 0
        "Hops that it had before it broke; 0: never known."
        self.ring = 0
        "How far the last request travelled, or the route that was found; 0: nobody was asked."
        self.measured: list[float] = []
        "Seconds a hop of the last discoveries."

    def set(self, hop: NodeId, hops: int, sequence: int, expires: float) -> None:
        """Have it lead over a neighbour from now on."""
        self.hop, self.hops, self.sequence, self.expires = hop, hops, sequence, expires
        self.known = self.up = True
        self.repairing = False

    def use_by(self, neighbour: NodeId, most: int) -> None:
        """Remember that a neighbour uses it."""
        self.precursors[neighbour] = None
        if len(self.precursors) > most:
            del self.precursors[next(iter(self.precursors))]

    def invalidate(self, sequence: int | None = None) -> None:
        """Give it up, with the number that an error told or the next one."""
        if sequence is not None and (not self.known or not newer(self.sequence, sequence)):
            self.sequence = sequence
        elif self.known:
            self.sequence = (self.sequence + 1) % NUMBERS
        if self.hops < INFINITE:
            self.last_hops = self.hops
        self.hops = INFINITE
        self.up = self.repairing = False


class AodvRouteTable:
    """Routes by destination, never more than `limit`: the one that changed longest ago makes room."""

    def __init__(self, limit: int, tick: float, kept: float = 0.0, *, repairs_count: bool = False) -> None:
        self.limit = limit
        self._repairs_count = repairs_count
        "Whether a route under repair is answered from and breaks as one that is up does, as in ns-2."
        self.entries: dict[NodeId, AodvRoute] = {}
        "In order of change, oldest first."
        self._tick = tick
        self._kept = kept
        "Seconds that the number of a route that is not in use still counts; 0: for ever."

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[AodvRoute]:
        return iter(self.entries.values())

    def entry(self, destination: NodeId) -> AodvRoute:
        """What is known of a destination, if only that it is asked for."""
        route = self.entries.get(destination)
        if route is None:
            if len(self.entries) >= self.limit:
                del self.entries[next(iter(self.entries))]
            route = self.entries[destination] = AodvRoute(destination)
        return route

    def live(self, destination: NodeId, now: float) -> AodvRoute | None:
        """The route to a destination, if messages may take it; one that has lapsed goes down."""
        route = self.entries.get(destination)
        if route is None or not route.up:
            return None
        if route.expires <= now and self._has_lapsed(route, now):
            route.invalidate()
            return None
        return route

    def peek(self, destination: NodeId, now: float) -> AodvRoute | None:
        """The same, and nothing changes."""
        route = self.entries.get(destination)
        if route is None or not route.up or self._has_lapsed(route, now):
            return None
        return route

    def standing(self, destination: NodeId, now: float) -> AodvRoute | None:
        """The live route to a destination; by ns-2's rule also one that is being repaired."""
        route = self.entries.get(destination)
        if route is not None and route.repairing and self._repairs_count:
            return route
        return self.live(destination, now)

    def breakable(self, route: AodvRoute) -> bool:
        """Whether an error or a failed link takes a route down: it is up, or repaired by ns-2's rule."""
        return route.up or (route.repairing and self._repairs_count)

    def repairs(self, destination: NodeId) -> bool:
        """Whether another way to a destination is being looked for from here."""
        route = self.entries.get(destination)
        return route is not None and route.repairing

    def numbered(self, route: AodvRoute, now: float) -> bool:
        """Whether the number of a route means something: it is known, and not out of use for too long."""
        return route.known and (not self._kept or now < route.expires + self._kept)

    def relied_on(self, destination: NodeId, now: float) -> None:
        """A neighbour seems to lead a route over here: if it is down, its number counts from now on."""
        route = self.entries.get(destination)
        if route is not None and not route.up:
            route.expires = max(route.expires, now)

    def offer(
        self, destination: NodeId, hop: NodeId, hops: int, sequence: int, *, now: float, life: float
    ) -> AodvRoute | None:
        """Take a route that is newer, or as new and shorter; None: what is known is better."""
        route = self.entry(destination)
        if self.numbered(route, now):
            ahead = (sequence - route.sequence) % NUMBERS
            if ahead >= HALF or (ahead == 0 and hops >= route.hops):
                return None
        route.set(hop, hops, sequence, now + life)
        del self.entries[destination]
        self.entries[destination] = route
        return route

    def confirm(
        self, destination: NodeId, hop: NodeId, hops: int, sequence: int, *, now: float, life: float
    ) -> AodvRoute | None:
        """The route that is known, if it is exactly that; it lives longer."""
        route = self.entries.get(destination)
        if route is None or not route.up or (route.hop, route.hops, route.sequence) != (hop, hops, sequence):
            return None
        route.expires = max(route.expires, now + life)
        return route

    def over(self, hop: NodeId) -> list[AodvRoute]:
        """The routes that lead over a neighbour and break with it."""
        return [route for route in self.entries.values() if route.hop == hop and self.breakable(route)]

    def _has_lapsed(self, route: AodvRoute, now: float) -> bool:
        return route.expires <= (now - now % self._tick if self._tick else now)
