"""A scenario's files and filters are read once, however many ask for what they say."""

from collections import Counter
from pathlib import Path

import pytest

from roamcast.content.filter import Filter
from roamcast.scenario import content as content_module
from roamcast.scenario.read import load
from roamcast.scenario.traces import movement as movement_module
from roamcast.sim.interest import subscribers
from roamcast.sim.run import simulate
from roamcast.sim.workload import plan

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def reads(monkeypatch):
    """How often each reader was called with what."""
    counted = Counter()

    def count(owner, name, key):
        original = getattr(owner, name)

        def counting(*arguments, **options):
            counted[name, key(*arguments)] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    count(content_module, "read_schedule", lambda path, *_: path.name)
    count(movement_module, "read_ns2", lambda path, *_: path.name)
    count(content_module, "infer_type", lambda name, _: name)
    parse = Filter.parse

    def parse_counted(text, types):
        counted["parse", text] += 1
        return parse(text, types)

    monkeypatch.setattr(Filter, "parse", parse_counted)
    return counted


def test_a_run_reads_schedule_movement_types_and_filters_once(reads):
    scenario = load(GOLDEN / "relay.toml")
    plan(scenario, 1)
    subscribers(scenario, 1)
    simulate(scenario, "flooding", 1)
    simulate(scenario, "flooding", 2)
    assert reads == {
        ("read_schedule", "relay.csv"): 1,
        ("read_ns2", "relay.mov"): 1,
        ("infer_type", "alert"): 1,
        ("parse", "/alert[level > 2]"): 1,
    }


def test_the_same_text_is_the_same_filter():
    scenario = load(GOLDEN / "relay.toml")
    assert scenario.content.filter("/alert[level > 2]") is scenario.content.filter("/alert[level > 2]")


def test_a_copy_with_another_part_reads_anew():
    scenario = load(GOLDEN / "square.toml")
    assert len(scenario.content.grid) == 16
    zones = scenario.workload.zones.model_copy(update={"side": 250.0})
    other = scenario.model_copy(update={"workload": scenario.workload.model_copy(update={"zones": zones})})
    assert len(other.content.grid) == 4
    assert other != scenario
    assert scenario.model_copy() == scenario
