import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from roamcast.scenario.read import ScenarioError, load
from roamcast.scenario.shipped import locate, shipped

ROOT = Path(__file__).parents[2]


def test_shipped_scenarios_are_found_by_name():
    assert {"shopping", "open-field"} <= shipped("scenarios").keys()
    assert load(locate("shopping")).name == "shopping"


def test_a_path_is_a_path_and_a_wrong_name_gets_a_hint(tmp_path):
    assert locate(str(tmp_path / "x.toml")) == tmp_path / "x.toml"
    with pytest.raises(ScenarioError, match="did you mean 'shopping'"):
        locate("shoping")


@pytest.mark.parametrize(("world", "step"), [("convoy", 1.0), ("festival", 1.0)])
def test_nodes_of_a_traced_world_enter_with_their_first_position_and_leave_a_step_after_the_last(world, step):
    scenario = load(locate(world))
    legs, first = scenario.recorded_legs, scenario.followers[0]
    present = {
        fault.nodes[0] - first: (
            fault.arrive.min if fault.arrive else 0.0,
            fault.leave.min if fault.leave else scenario.duration,
        )
        for fault in scenario.faults.values()
    }
    for node in range(len(scenario.followers)):
        of = legs.node == node
        moves = of & (legs.speed > 0)
        length = ((legs.x1 - legs.x0) ** 2 + (legs.y1 - legs.y0) ** 2) ** 0.5
        ends = (legs.time[moves] + length[moves] / legs.speed[moves]).max()
        arrive, leave = present.get(node, (0.0, scenario.duration))
        assert legs.time[moves].min() == pytest.approx(arrive, abs=1e-6)
        last = min(leave, scenario.duration)
        assert min(ends + step, scenario.duration) == pytest.approx(last, abs=1e-6)


@pytest.mark.slow
def test_a_wheel_carries_the_scenarios(tmp_path):
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
    ]
    subprocess.run([*build, "-C", f"build-dir={tmp_path / 'build'}", str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for path in shipped("scenarios").values():
        assert f"roamcast/shipped/scenarios/{path.name}" in names
    assert "roamcast/shipped/scenarios/traces/convoy.mov" in names
