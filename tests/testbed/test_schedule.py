"""The schedule of testbed nodes is that of the simulator."""

import numpy as np
import pyarrow as pa
import pytest

from roamcast.facts.schema import TABLES
from roamcast.facts.tracks import Tracks
from roamcast.sim import kernel
from roamcast.sim.run import simulate
from roamcast.sim.world import legs_columns
from roamcast.testbed import errors
from roamcast.testbed.schedule import schedules
from tests.testbed.scenarios import LINE, line


def planned(scenario, seed=1):
    legs = pa.table(legs_columns(kernel.build(scenario, seed), scenario.duration)).cast(TABLES["legs"])
    return schedules(scenario, seed, Tracks(legs, scenario.count))


def test_publications_are_those_of_the_simulation():
    scenario = line()
    simulated = simulate(scenario, "flooding", 1)["publications"]
    own = [each for schedule in planned(scenario) for each in schedule.publications]
    assert np.allclose(simulated["time"].to_numpy(), [each.time for each in own])
    assert simulated["event"].to_pylist() == [each.event.to_json() for each in own]


def test_interests_that_follow_the_position_change_as_in_the_simulation():
    walking = {"walkers": {"count": 4, "mobility": "waypoint", "speed": [5, 20]}}
    workload = {
        "zones": {"side": 30},
        "publish": {"walkers": {"count": 1, "every": 1, "size": 100, "content": "random-zone"}},
        "subscribe": {"walkers": {"interest": "zone", "tick": 0.5}},
    }
    area = {"width": 100, "height": 100}
    scenario = line(nodes=walking, workload=workload, area=area, duration=30)
    simulated = simulate(scenario, "flooding", 3)["interests"].to_pylist()
    own = [
        {"time": each.time, "node": schedule.node, "wanted": str(each.filter), "begins": each.begins}
        for schedule in planned(scenario, 3)
        for each in schedule.interests
    ]
    key = lambda row: (row["node"], row["time"], row["begins"])  # noqa: E731
    simulated, own = sorted(simulated, key=key), sorted(own, key=key)
    assert len(own) > 8
    assert [row["wanted"] for row in own] == [row["wanted"] for row in simulated]
    assert np.allclose([row["time"] for row in own], [row["time"] for row in simulated])


def test_lives_follow_crashes_arrivals_and_departures():
    faults = {
        "relay": {"nodes": [1], "crash": {"at": [1, 2.5], "down": 0.5}},
        "late": {"nodes": [0], "arrive": [1, 1]},
        "gone": {"nodes": [2], "leave": [3, 3]},
    }
    lives = [each.lives for each in planned(line(faults=faults))]
    assert lives == [[(1, 4)], [(0, 1), (1.5, 2.5), (3, 4)], [(0, 3)]]


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ({"faults": {"x": {"nodes": [1], "radio": {"at": [1], "down": 1}}}}, "switch radios"),
        (
            {
                "workload": LINE["workload"]
                | {"request": {"line": {"every": 1, "interest": ["/alert"], "timeout": 1}}}
            },
            "has requests",
        ),
    ],
)
def test_what_the_testbed_cannot_do_is_refused(change, result):
    with pytest.raises(errors.TestbedError, match=result):
        planned(line(**change))
