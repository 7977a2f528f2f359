"""Named behaviour: routers see signal strengths with shadowing and fading, and estimate distances wrongly."""

import math
from collections import Counter

import numpy as np
import pytest

from roamcast import _kernel
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate

from ..test_kernel_laws import Listener, Note
from ..twin import received_power
from .links import shadowing, world_of

PLACES = [(10.0 + 20 * k, 500.0) for k in range(12)]


def estimates(seed, **channel):
    """Return true and estimated distances to the sender of the frames that node 0 receives."""
    world = world_of(PLACES, seed, **channel)
    hosts = [_kernel.Host(world, node) for node in range(len(PLACES))]
    listeners = [Listener(host) for host in hosts]
    for node, listener in enumerate(listeners):
        world.attach(node, listener)
    for node in range(1, len(PLACES)):
        hosts[node].call_later(0.1 * node, hosts[node].broadcast, Note())
    world.run_until(2.0)
    heard = {sender: signal for _, sender, signal in listeners[0].heard}
    powers = {sender: received_power(math.dist(PLACES[0], PLACES[sender])) for sender in heard}
    found = [
        (math.dist(PLACES[0], PLACES[sender]), hosts[0].distance(signal)) for sender, signal in heard.items()
    ]
    near = [
        sender for sender in heard if sender <= 5
    ]  # farther ones are heard only if their signal is strong
    errors = [10 * math.log10(heard[sender] / powers[sender]) for sender in near]
    return np.array(found), np.array(errors)


def test_without_shadowing_and_fading_distances_are_exact():
    found, errors = estimates(1, shadowing=shadowing(0.0))
    assert len(found) == 11
    assert np.abs(errors).max() < 1e-3
    assert found[:, 1] == pytest.approx(found[:, 0], rel=1e-3)


@pytest.mark.parametrize("channel", [{"shadowing": shadowing(6.0)}, {"fading": 1.0}])
def test_signals_are_distorted_as_the_channel_is(channel):
    """The error of the signal has the spread of the model; the estimate is at most the range."""
    runs = [estimates(seed, **channel) for seed in range(150)]
    errors = np.concatenate([errors for _, errors in runs])
    found = np.concatenate([pairs for pairs, _ in runs])
    spread = 6.0 if "shadowing" in channel else 5.57  # dB: of a Rayleigh fading power
    assert errors.std() == pytest.approx(spread, rel=0.15)
    assert found[:, 1].max() <= 250
    assert np.mean(np.abs(found[:, 1] / found[:, 0] - 1) > 0.2) > 0.4


def first_forwarders(**radio):
    """Return how often each node is the first to repeat a publication of node 0, by PAMPA's delay."""
    places = [[0.0, 0.0], [60.0, 0.0], [120.0, 0.0], [180.0, 0.0]]
    scenario = Scenario.model_validate(
        {
            "name": "row",
            "area": {"width": 1000, "height": 100},
            "duration": 120,
            "nodes": {"source": {"count": 1, "at": places[:1]}, "row": {"count": 3, "at": places[1:]}},
            "radio": radio,
            "workload": {
                "types": {"news": {"n": "integer"}},
                "publish": {"source": {"every": 2, "content": {"type": "news", "values": {"n": 1}}}},
                "subscribe": {"row": {"interest": ["/news"]}},
            },
        }
    )
    found = Counter()
    for seed in range(3):
        sent = simulate(scenario, "p-pubs", seed)["transmissions"].to_pandas().sort_values("time")
        for _, copies in sent.groupby("publication"):
            later = [int(node) for node in copies["node"] if node != 0]
            if later:
                found[later[0]] += 1
    return found


def test_pampa_prefers_the_farthest_node_and_errs_with_fading():
    """PAMPA waits less the weaker the signal: with fading, nearer nodes often seem to be the farthest."""
    exact = first_forwarders()
    assert exact[3] == sum(exact.values()) > 100
    faded = first_forwarders(fading={"kind": "rayleigh"})
    assert 0.15 < 1 - faded[3] / sum(faded.values()) < 0.8
