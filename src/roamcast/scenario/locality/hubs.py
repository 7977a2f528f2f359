"""Hubs: disjoint squares in which nodes gather, placed at random by the seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from roamcast.errors import UserError
from roamcast.scenario.model import Scenario

TRIES = 10_000


class Square(NamedTuple):
    """The square of a hub [m]."""

    x: float
    y: float
    side: float

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies in the square or on its edge."""
        return self.x <= x <= self.x + self.side and self.y <= y <= self.y + self.side

    def overlaps(self, other: Square) -> bool:
        """Return whether the two squares have more than an edge in common."""
        return abs(self.x - other.x) < self.side and abs(self.y - other.y) < self.side


def place_hubs(scenario: Scenario, seed: int) -> list[Square]:
    """Return the hubs of a run, which depend only on the scenario and the seed."""
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
        raise UserError(f"hubs: found no arrangement of {hubs.count} disjoint squares of {hubs.side:g} m")
    return laid


def _all_at_once(draw: Callable[[], Square], count: int) -> list[Square] | None:
    # Restarted at the first overlap, so that every arrangement is equally likely; rarely succeeds for many
    # hubs.
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
    # Each hub is placed beside the earlier ones. Random squares jam at a coverage of 0.56; the model limits
    # the coverage to one half.
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
