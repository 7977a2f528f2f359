import re
from pathlib import Path

from roamcast.scenario.read import load
from roamcast.scenario.reference import update
from roamcast.sim.workload import plan

PAGE = Path(__file__).parents[2] / "docs" / "scenarios.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


def test_the_reference_is_the_one_that_the_models_write():
    written = PAGE.read_text()
    assert written == update(written), "run: python -m roamcast.scenario.reference docs/scenarios.md"


def test_the_example_is_a_scenario(tmp_path):
    file = tmp_path / "alarm.toml"
    file.write_text(block("toml"))
    assert len(plan(load(file), 1).publications) > 100


def test_the_schedule_is_one_too(tmp_path):
    (tmp_path / "plan.csv").write_text(block("csv"))
    file = tmp_path / "alarm.toml"
    head, _, _ = block("toml").partition("[workload.publish")
    file.write_text(head + '[workload]\nschedule = "plan.csv"\n')
    assert [p.event["level"] for p in plan(load(file), 1).publications] == [3, 5]
