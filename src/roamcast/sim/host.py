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
        if scenario.location:
            self.grant_location(Position, Velocity)
