"""Random worlds are valid, differ from seed to seed, and stay within the declared ranges."""

import tomllib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.advisor.drawing.draw import LONG, draw_text, draw_world
from roamcast.advisor.drawing.ranges import CHOICES, RANGES
from roamcast.advisor.drawing.toml_text import write_toml
from roamcast.api.checking import check_scenario
from roamcast.scenario.model import Scenario
from roamcast.scenario.resolved import resolve

SEEDS = st.integers(0, LONG - 1) | st.integers(LONG, 2**63 - 1)


@settings(max_examples=150)
@given(SEEDS)
def test_every_drawn_world_passes_check_and_resolves_to_itself(seed):
    scenario, _ = check_scenario(Path("drawn.toml"), draw_text(seed))
    assert resolve(Scenario.model_validate(resolve(scenario))) == resolve(scenario)


@given(SEEDS)
def test_a_drawn_world_stays_within_the_ranges(seed):
    world = draw_world(seed)
    long = "long_" if seed >= LONG else ""
    (publishing,) = world.workload.publish.values()
    (subscribing,) = world.workload.subscribe.values()
    within = {
        "nodes": world.count,
        f"{long}duration": world.duration,
        "range": world.radio.range,
        "carrier_sense": world.radio.carrier_sense / world.radio.range,
        "publishers": publishing.count,
        "size": publishing.size,
        "locality": subscribing.locality or RANGES["locality"].low,
    }
    for group in world.groups.values():
        if group.speed is not None:
            within |= {"speed": group.speed.max, "pause": group.pause}
    if long:
        within["long_quiet"] = world.quiet
    for name, value in within.items():
        low, high = RANGES[name].low, RANGES[name].high
        assert low * 0.999 <= value <= high * 1.001, f"{name} = {value}"
    rate = publishing.count * publishing.burst / publishing.every
    assert 0.999 * RANGES[f"{long}rate"].low <= rate <= 1.001 * RANGES[f"{long}rate"].high
    assert 3 <= subscribing.count <= world.count


def test_the_same_seed_gives_the_same_world_and_another_seed_another():
    assert draw_text(5) == draw_text(5)
    assert len({draw_text(seed) for seed in range(50)}) == 50


def test_every_alternative_is_drawn():
    worlds = [draw_world(seed) for seed in range(200)]
    assert {world.radio.propagation for world in worlds} == set(CHOICES["propagation"].alternatives)
    kinds = {
        next((f"{k}" for k in ("crash", "radio") if getattr(f, k)), "churn")
        for w in worlds
        for f in w.faults.values()
    }
    assert kinds | {"none"} == set(CHOICES["faults"].alternatives)
    assert any(world.hubs for world in worlds) and any(not world.location for world in worlds)
    rates = {f"{w.mac.basic_rate / 1e6:g}, {w.mac.rate / 1e6:g}" for w in worlds}
    assert rates == set(CHOICES["rates"].alternatives)


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="ascii"), max_size=20),
    lambda inner: (
        st.lists(inner.filter(lambda each: not isinstance(each, dict)), max_size=4)
        | st.dictionaries(st.text('ab*. "', max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc*.-", min_size=1, max_size=4), VALUES, max_size=4))
def test_written_toml_reads_as_the_same_data(data):
    def without_empty(value):
        """An empty section is not written."""
        if not isinstance(value, dict):
            return value
        kept = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each != {}}

    assert without_empty(tomllib.loads(write_toml(data))) == without_empty(data)
