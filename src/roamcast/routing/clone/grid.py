"""Grid-based CBR (section IV): two-tier routing over fixed squares instead of communities.

The paper specifies grids that are fixed by location and have heads. The rest is our choice: a square's head
is the node nearest to its centre, elected at each construction by votes that stay within the square. A head
that leaves its square resigns, and nodes without a route to the head elect another. A node that enters a
square adopts the head that its neighbours there report. Of two heads in one square the one farther from the
centre joins the other once it receives a beacon of the other's community (`merge_heads`).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar

from roamcast.routing.clone.community import KnownPrincipal, OwnVote
from roamcast.routing.clone.messages import HEAVIEST, UNREACHABLE
from roamcast.routing.clone.parameters import GridParameters
from roamcast.routing.clone.two_tier import TwoTier
from roamcast.routing.router import Host, Parameters
from roamcast.routing.unicast.gpsr.messages import PointCm
from roamcast.routing.unicast.gpsr.neighbourhood import squared


class GridCbr(TwoTier):
    """Two-tier routing over the squares of a grid."""

    shares_process = True
    main_parameters = ("advertise", "radius", "publishing", "resubscribe")
    parameters_type: ClassVar[type[Parameters]] = GridParameters
    live = MappingProxyType({**TwoTier.live, "vote_delay": "500 ms"})
    parameters: GridParameters

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self._side = max(round(100 * self.parameters.side), 1)
        "Side of the squares [cm]."
        self.square: tuple[int, int] | None = None
        "Column and row of the square in which this node was at the last check."
        self._elected = 0.0

    def square_at(self, place: PointCm) -> tuple[int, int]:
        """Return the column and row of the square that contains a position."""
        x, y = place
        return x // self._side, y // self._side

    def describe(self) -> OwnVote:
        """Return this node's vote; the weight decreases with the distance from the centre of the square."""
        here, side = self.geo.here(), self._side
        middle = PointCm(here.x // side * side + side // 2, here.y // side * side + side // 2)
        away = squared(here, middle) ** 0.5 / side
        return OwnVote(round((HEAVIEST - 1) * max(1 - away, 0)) + 1, here, frozenset())

    def admit(self, place: PointCm) -> bool:
        """Return whether a candidate is in the same square."""
        return self.square_at(place) == self.square_at(self.geo.here())

    def vote_delay(self, weight: int) -> float:
        """Return the vote delay [s], which increases with the distance from the centre."""
        return self.parameters.vote_delay * (1 - weight / HEAVIEST)

    def check_community(self) -> None:
        """Join another head if this node has entered another square or cannot reach its head."""
        here, community = self.geo.here(), self.community
        square, before = self.square_at(here), self.square
        self.square = square
        if community.constructing:
            return
        moved = before is not None and square != before
        if moved or (not community.is_principal and community.hops >= UNREACHABLE):
            self._enter(square)
        elif community.is_principal and self.parameters.merge_heads:
            self._merge(square)

    def _heads(self, square: tuple[int, int]) -> list[KnownPrincipal]:
        """Return the heads that neighbours in a square report, one entry per neighbour."""
        return [
            KnownPrincipal(beacon.principal, beacon.weight, frozenset(), beacon.hops + 1, node)
            for node, beacon in self.community.heard.items(self.host.now())
            if self.square_at(beacon.here) == square
            and beacon.hops < self.parameters.ttl
            and self.host.node not in (beacon.parent, beacon.principal)
        ]

    def _merge(self, square: tuple[int, int]) -> None:
        """Join the heaviest other head of the square, if it is heavier than this node."""
        own = (self.community.weight, -self.host.node)
        heavier = [head for head in self._heads(square) if (head.weight, -head.principal) > own]
        if heavier:
            self.community.join(max(heavier, key=lambda head: (head.weight, -head.principal, -head.hops)))

    def _enter(self, square: tuple[int, int]) -> None:
        """Adopt the head that neighbours in the square report, or start an election."""
        community, now = self.community, self.host.now()
        heads = self._heads(square)
        if heads:
            community.join(min(heads, key=lambda head: (head.hops, -head.weight, head.principal)))
            return
        community.become_principal(self.describe().weight)
        if now - self._elected >= self.parameters.renew:
            self._elected = now
            community.construct()
