"""How much longer a node should wait for what it sees around it (the paper's future work)."""

from __future__ import annotations

from roamcast.routing.router import Footprint, Host, NodeId
from roamcast.routing.state.leases import Leases

USUAL_NEIGHBOURS = 27.5
"Of 140 nodes to the square kilometre, those within 250 m: there the wait is as long as the parameters say."
LEAST, MOST = 0.25, 2.0
"Times the wait of the parameters, by density alone."
MEMORY = 30.0
"Seconds that a neighbour counts after it was heard."
NEIGHBOURS = 1024
"Counted at most."
WEIGHT = 0.05
"Of the last job in the mean of those that had to be sent again."


class LocalConditions:
    """Density, by who was heard lately, and losses, by the jobs that had to be sent again."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._heard: Leases[NodeId, bool] = Leases(MEMORY, NEIGHBOURS)
        self._losses = 0.0

    def hear(self, neighbour: NodeId) -> None:
        """Note a neighbour."""
        self._heard.renew(neighbour, True, self._host.now())

    def observe(self, again: bool) -> None:
        """Note a job that was taken at once, or had to be sent again."""
        self._losses += WEIGHT * (again - self._losses)

    def scale(self) -> float:
        """Times the usual wait: the more may speak and the more is lost, the longer they should spread."""
        self._heard.sweep(self._host.now())
        density = len(self._heard) / USUAL_NEIGHBOURS
        return min(max(density, LEAST), MOST) * (1 + self._losses)

    def footprint(self) -> Footprint:
        """Neighbours, and when each was heard."""
        return Footprint(len(self._heard), 12 * len(self._heard), NEIGHBOURS)
