"""The map of a scenario shows its groups, zones and publishers, and where everyone came from."""

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

from roamcast.api.maps import map_data
from roamcast.cli.app import invoke
from roamcast.report.drawings.map import describe_map, draw_map
from roamcast.scenario.read import load
from roamcast.sim.kernel import movement

SCENARIOS = Path(__file__).parents[3] / "scenarios"


@pytest.fixture(scope="module")
def shopping():
    return load(SCENARIOS / "shopping.toml")


def test_trails_are_the_last_minute_of_the_movement_of_the_run(shopping):
    ground = map_data(shopping, seed=3)
    legs = movement(shopping, 3)
    assert ground.moment == 260.0
    for node, trail in ground.trails.items():
        assert trail[0] == pytest.approx(legs.position(node, 200.0))
        assert trail[-1] == pytest.approx(legs.position(node, 260.0))
        walked = sum(math.dist(*step) for step in pairwise(trail))
        assert walked <= 60.0 * 1.0 + 1e-6  # nobody walks faster than 1 m/s
    assert any(trail[0] != trail[-1] for trail in ground.trails.values())


def test_the_map_names_groups_zones_and_publishers(shopping):
    ground = map_data(shopping, seed=1)
    assert ground.publishers == {0}
    drawn = draw_map(ground)
    for word in ("shop, publishing (1)", "walkers (50)", *(f">{zone}<" for zone in range(1, 9))):
        assert word in drawn
    assert "1 shop, 50 walkers, 8 numbered zones" in describe_map(ground)
    assert draw_map(ground) == drawn


def test_another_moment_is_another_map_and_a_wrong_one_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(["map", "shopping", "--at", "700 s", "--out", "late.png"]) == 0
    assert "700 s into the run" in capsys.readouterr().out
    assert Path("late.png").read_bytes().startswith(b"\x89PNG")
    assert invoke(["map", "open-field"]) == 0
    assert "field, publishing (10)" in Path("open-field-map.svg").read_text()
    for arguments, entry in (
        (["--at", "900 s"], "the run lasts from 0 s to 800 s"),
        (["--at", "soon"], "'soon' is not a quantity"),
        (["--out", "x.gif"], "expected a name that ends in .svg, .png, .pdf"),
        (["--out", "no/folder/x.svg"], "cannot be written"),
    ):
        assert invoke(["map", "shopping", *arguments]) == 2
        assert re.search(entry, capsys.readouterr().err)
