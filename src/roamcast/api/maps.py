"""The map of a scenario with the movement of one seed, for commands, reports and the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast.report.drawings.map import MapData
    from roamcast.scenario.model import Scenario


def map_data(scenario: Scenario, seed: int, moment: float | None = None) -> MapData:
    """Return the map of a scenario with the movement and publishers of `seed`; `moment` is a time [s]."""
    from roamcast.report.drawings.map import make_map_data
    from roamcast.sim.kernel import movement
    from roamcast.sim.workload import plan

    publishers = {node for node, _ in plan(scenario, seed).advertisements}
    return make_map_data(scenario, movement(scenario, seed), publishers, moment)
