"""The host that a router in the simulated world sees."""

from __future__ import annotations

from random import Random

from roamcast import _kernel
from roamcast.routing.router import NodeId, Position, Velocity
from roamcast.scenario.model import Scenario


class SimHost(_kernel.Host):
    """The kernel's host, with entropy, and position where granted; a node that starts anew has a new one."""

    def __init__(
        self, kernel: _kernel.World, scenario: Scenario, seed: int, node: NodeId, incarnation: int = 0
    ) -> None:
        super().__init__(kernel, node, incarnation)
        again = f"/{incarnation}" if incarnation else ""
        self.random = Random(f"{seed}/router/{node}{again}")
        self._located = scenario.location

    def position(self) -> Position:
        """Own position, where the scenario grants it."""
        self._check_location()
        return Position(*self.place())

    def velocity(self) -> Velocity:
        """Own velocity, where the scenario grants location."""
        self._check_location()
        return Velocity(*self.pace())

    def _check_location(self) -> None:
        if not self._located:
            raise PermissionError("nodes of this scenario do not know where they are (location = false)")
