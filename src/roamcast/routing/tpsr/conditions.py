"""Adaptation of delays to local density and losses (the paper's future work)."""

from __future__ import annotations

from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases

USUAL_NEIGHBOURS = 27.5
"Mean number of nodes within 250 m at 140 nodes per square kilometre; with it the factor is 1."
LEAST, MOST = 0.25, 2.0
"Bounds of the factor by density alone."
MEMORY = 30.0
"Duration for which a neighbour counts after its last reception [s]."
NEIGHBOURS = 1024
"Maximum number of neighbours counted."
WEIGHT = 0.05
"Weight of the last job in the moving average of retransmitted jobs."


class LocalConditions:
    """Estimates of density, from neighbours received recently, and of losses, from retransmitted jobs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._heard: Leases[NodeId, bool] = Leases(MEMORY, NEIGHBOURS)
        self._losses = 0.0

    def hear(self, neighbour: NodeId) -> None:
        """Record a reception from a neighbour."""
        self._heard.renew(neighbour, True, self._host.now())

    def observe(self, again: bool) -> None:
        """Record whether a job had to be retransmitted."""
        self._losses += WEIGHT * (again - self._losses)

    def scale(self) -> float:
        """Return the factor for delays; it grows with the number of neighbours and with losses."""
        self._heard.sweep(self._host.now())
        density = len(self._heard) / USUAL_NEIGHBOURS
        return min(max(density, LEAST), MOST) * (1 + self._losses)

    def footprint(self) -> Footprint:
        """Return the size: neighbour and time of each entry."""
        return Footprint(len(self._heard), 12 * len(self._heard), NEIGHBOURS)
