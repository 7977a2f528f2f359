"""The host of a router in the simulated world."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha512
from random import Random

from roamcast import _kernel
from roamcast.routing.router import NodeId, Position, Velocity
from roamcast.scenario.model import Scenario


class SimHost(_kernel.Host):
    """The kernel's host with random numbers and, if granted, position; each incarnation has its own."""

    def __init__(
        self,
        kernel: _kernel.World,
        scenario: Scenario,
        make_random: Callable[[NodeId, int], Random],
        node: NodeId,
        incarnation: int = 0,
    ) -> None:
        super().__init__(kernel, node, incarnation)
        self.draw_from(make_random)
        if scenario.location:
            self.grant_location(Position, Velocity)


class NodeRandom(Random):
    """Draws the same numbers as `Random(text)`, without its dictionary (300 B) until `gauss` is called."""

    gauss_next: float | None = None

    def __init__(self, text: str) -> None:
        data = text.encode()
        super(Random, self).seed(int.from_bytes(data + sha512(data).digest(), "big"))


def generators(seed: int) -> Callable[[NodeId, int], Random]:
    """Return the function that makes the random number generator of a node's router in an incarnation."""

    def make(node: NodeId, incarnation: int) -> Random:
        again = f"/{incarnation}" if incarnation else ""
        return NodeRandom(f"{seed}/router/{node}{again}")

    return make
