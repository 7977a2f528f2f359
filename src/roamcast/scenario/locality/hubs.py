"""Hubs: squares in which people gather, drawn by the seed so that they do not overlap."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from roamcast.errors import UserError
from roamcast.scenario.model import Scenario

TRIES = 10_000


class Square(NamedTuple):
    """Where a hub is."""

    x: float
    y: float
    side: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a place lies in it or on its edge."""
        return self.x <= x <= self.x + self.side and self.y <= y <= self.y + self.side

    def overlaps(self, other: Square) -> bool:
        """Whether they have more than an edge in common."""
        return abs(self.x - other.x) < self.side and abs(self.y - other.y) < self.side


def place_hubs(scenario: Scenario, seed: int) -> list[Square]:
    """The hubs of a run, a function of the scenario and the seed alone; none, if it has none."""
    hubs, area = scenario.hubs, scenario.area
    if hubs is None:
        return []
    if hubs.at is not None:
        return [Square(x, y, hubs.side) for x, y in hubs.at]
    random = Random(f"{seed}/hubs")

    def draw() -> Square:
        x, y = random.random() * (area.width - hubs.side), random.random() * (area.height - hubs.side)
        return Square(x, y, hubs.side)

    laid = _all_at_once(draw, hubs.count) or _one_by_one(draw, hubs.count)
    if laid is None:
        raise UserError(
            f"hubs: found no room for {hubs.count} squares of {hubs.side:g} m that do not overlap"
        )
    return laid


def _all_at_once(draw: Callable[[], Square], count: int) -> list[Square] | None:
    # Begun anew at the first overlap, so that every arrangement is equally likely; many hubs seldom succeed.
    laid: list[Square] = []
    for _ in range(TRIES):
        hub = draw()
        if any(hub.overlaps(other) for other in laid):
            laid = []
            continue
        laid.append(hub)
        if len(laid) == count:
            return laid
    return None


def _one_by_one(draw: Callable[[], Square], count: int) -> list[Square] | None:
    # Each where the earlier ones have left room. Squares jam when they cover 0.56 of an area; the model
    # lets them cover half.
    laid: list[Square] = []
    for _ in range(count):
        for _ in range(TRIES):
            hub = draw()
            if not any(hub.overlaps(other) for other in laid):
                laid.append(hub)
                break
        else:
            return None
    return laid
