"""Features of scenarios, compared with numbers that follow from the scenario by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.advisor.drawing.draw import draw_world
from roamcast.advisor.features import FEATURES, NotAdvisable, describe
from roamcast.advisor.snapshots import SEEDS
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load

LINE = """
name = "line"
area = { width = "1000 m", height = "10 m" }
duration = "100 s"
warmup = "20 s"
quiet = "20 s"

[nodes.source]
count = 1
at = [["0 m", "5 m"]]

[nodes.chain]
count = 3
at = [["200 m", "5 m"], ["400 m", "5 m"], ["1000 m", "5 m"]]

[workload.types.notice]
topic = { kind = "integer", min = 1, max = 2 }

[workload.publish.source]
every = "2 s"
burst = 3
phase = "1 s"
content = { type = "notice", values = { topic = 1 } }

[workload.subscribe.chain]
interest = ["/notice[topic = 1]"]
"""


def line(**changes):
    return load(Path("line.toml"), changes, text=LINE)


def test_features_of_four_nodes_on_a_line_are_those_by_hand():
    found = describe(line())
    assert found["nodes"] == 4
    assert found["degree"] == 1.0  # 1, 2, 1 and 0 neighbours
    assert found["largest"] == 0.75
    assert found["reachable"] == pytest.approx(2 / 3)
    assert found["hops"] == 1.5
    assert found["audience"] == 3
    assert found["selectivity"] == 1
    assert found["filters"] == pytest.approx(1 / 3)
    assert found["rate"] == pytest.approx(1.5)
    assert found["burst"] == 3
    assert found["speed"] == 0
    assert found["kept_later"] == 1
    assert found["crowd"] == pytest.approx((3 + 3 + 3 + 1) / 4)  # within 550 m, with itself
    flooded = 8 * (512 + 80) / 1e6 * found["crowd"]
    assert found["flooding_load"] == pytest.approx(1.5 * flooded)
    assert found["burst_load"] == pytest.approx(3 * flooded)


def test_faults_take_nodes_and_links_away():
    faults = {"faults.off": {"nodes": [1], "radio": {"at": ["0 s"]}}}
    found = describe(line(**faults))
    assert found["down"] == 0.25
    assert found["reachable"] == 0
    assert found["degree"] == 0
    assert found["faults"] == pytest.approx(1 / 4 / (100 / 60))
    assert found["forgetting"] == 0


def test_an_unwanted_event_has_no_audience():
    found = describe(line(**{"workload.subscribe.chain.interest": ["/notice[topic = 2]"]}))
    assert (found["audience"], found["unwanted"]) == (0, 1)


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_every_drawn_world_has_finite_features_and_the_same_each_time(seed):
    world = draw_world(seed)
    found = describe(world)
    assert list(found) == list(FEATURES)
    assert all(value >= 0 and value < 1e6 for value in found.values()), found
    for share in (
        "largest",
        "reachable",
        "kept_soon",
        "kept_later",
        "subscribers",
        "selectivity",
        "unwanted",
    ):
        assert found[share] <= 1
    assert describe(Scenario.model_validate_json(world.model_dump_json(by_alias=True))) == found


def test_the_seeds_of_snapshots_are_not_those_of_runs():
    assert min(SEEDS) > 2**32


def test_a_scenario_without_subscriptions_is_refused_with_a_sentence():
    with pytest.raises(NotAdvisable, match="city: has no subscriptions"):
        describe(Scenario.read("city"))


@pytest.mark.parametrize("name", ["shopping", "river", "cd-market", "one-reader", "open-field"])
def test_shipped_scenarios_have_features(name):
    assert describe(Scenario.read(name))["degree"] > 1
