"""Movements without long partitions, and walkers that always walk as fast as they may."""

from pathlib import Path

import numpy as np
import pytest

from roamcast.errors import UserError
from roamcast.scenario.read import load
from roamcast.sim.kernel import movement
from roamcast.sim.partitions import longest_partition

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


def shopping(*overrides):
    few = ["duration=300 s", "nodes.walkers.count=25", "workload.subscribe.walkers.count=1"]
    return load(SHOPPING, [*few, *overrides])


def cut_off_slowly(scenario, seed):
    """The longest partition from the publisher, by walking from node to node at each second."""
    legs, nodes = movement(scenario, seed), range(scenario.count)
    longest = dict.fromkeys(nodes, 0)
    now = dict.fromkeys(nodes, 0)
    for second in range(int(scenario.duration)):
        places = [legs.position(node, float(second)) for node in nodes]
        reached, todo = {0}, [0]
        while todo:
            here = todo.pop()
            near = {n for n in nodes if np.hypot(*np.subtract(places[n], places[here])) <= 250.0} - reached
            reached |= near
            todo += near
        for node in nodes:
            now[node] = 0 if node in reached else now[node] + 1
            longest[node] = max(longest[node], now[node])
    return max(longest.values())


def test_the_longest_partition_is_what_a_slow_walk_over_the_network_finds():
    scenario = shopping("duration=220 s", "nodes.walkers.count=8", "nodes.walkers.speed.max=10 m/s")
    found = []
    for seed in (1, 2, 3):
        legs = movement(scenario, seed)
        found.append(longest_partition(legs, scenario.count, [0], 250.0, scenario.duration))
        assert found[-1] == cut_off_slowly(scenario, seed)
    assert len(set(found)) > 1


def test_only_movements_in_which_nobody_is_cut_off_for_long_are_taken():
    usual = shopping()
    connected = shopping("connected.to=shop", "connected.longest=20 s")
    kept = redrawn = 0
    for seed in range(1, 9):
        legs, other = movement(usual, seed), movement(connected, seed)
        assert longest_partition(other, connected.count, [0], 250.0, connected.duration) <= 20
        same = np.array_equal(legs.x1, other.x1)
        long = longest_partition(legs, usual.count, [0], 250.0, usual.duration) > 20
        assert same != long, "a movement is drawn again if it has to be, and only then"
        kept, redrawn = kept + same, redrawn + long
    assert kept and redrawn


def test_what_is_never_connected_is_said(monkeypatch):
    monkeypatch.setattr("roamcast.sim.kernel.ATTEMPTS", 3)
    lonely = shopping(
        "nodes.walkers.count=1",
        "connected.to=shop",
        "connected.longest=0 s",
        "radio.range=1 m",
    )
    with pytest.raises(UserError, match="none of 3 movements drawn for seed 7 keeps all nodes connected"):
        movement(lonely, 7)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["connected.to=shops", "connected.longest=20 s"], "did you mean 'shop'?"),
        (["connected.to=shop"], "connected.longest: is missing"),
        (["connected.to=shop", "connected.longest=20"], "has no unit"),
    ],
)
def test_mistakes_are_reported(overrides, message):
    with pytest.raises(UserError) as caught:
        shopping(*overrides)
    assert message in str(caught.value)


def test_a_steady_walker_always_walks_as_fast_as_it_may():
    for start in ("rest", "stationary"):
        scenario = shopping(
            "nodes.walkers.draw=fastest", "nodes.walkers.speed.max=3 m/s", f"nodes.walkers.start={start}"
        )
        legs = movement(scenario, 1)
        walks = np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0) > 0
        assert walks.sum() > 25
        assert legs.speed[walks] == pytest.approx(3.0)
