"""GPSR with movement, beside what geometry allows on the same movement; slow."""

import pytest

from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.trail.trail import Trail


def field(speed):
    return Scenario.model_validate(
        {
            "name": "field",
            "area": {"width": 1200, "height": 800},
            "duration": 90,
            "warmup": 15,
            "quiet": 5,
            "location": True,
            "nodes": {"all": {"count": 40, "mobility": "waypoint", "speed": (speed, speed)}},
            "workload": {
                "publish": {"all": {"count": 6, "every": 3, "content": {"type": "news"}}},
                "subscribe": {"all": {"count": 10, "interest": ["/news"]}},
            },
        }
    )


def delivered_of_reachable(speed, **parameters):
    """The share of pairs with a path at the moment of publication that were delivered."""
    scenario = field(speed).model_copy(update={"protocols": {"gpsr-unicast": parameters}})
    trail = Trail(simulate(scenario, "gpsr-unicast", 5))
    pairs = [pair for pair in trail.expected if trail.published[pair[0]] >= 15]
    able = [
        p for p in pairs if trail.reach.meets(p[0] >> 32, p[1], trail.published[p[0]], trail.published[p[0]])
    ]
    assert len(able) > 500
    return sum(pair in trail.delivered for pair in able) / len(able)


@pytest.mark.slow
def test_what_has_a_path_is_delivered_and_stale_places_cost():
    still = delivered_of_reachable(1.0, location="known")
    fast = delivered_of_reachable(20.0, location="known")
    stale = delivered_of_reachable(20.0, location="announced", announce=20.0, known=60.0)
    assert min(still, fast) > 0.97
    assert stale < min(still, fast) - 0.02
