import re
from pathlib import Path

from roamcast.routing.faults import FaultKind
from roamcast.scenario.read import load
from roamcast.scenario.reference import update
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.requests import requesters
from roamcast.sim.workload import plan

PAGE = Path(__file__).parents[2] / "docs" / "scenarios.md"


def block(language, number=0):
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]


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


def test_requests_and_faults_can_be_added_to_the_example(tmp_path):
    file = tmp_path / "alarm.toml"
    file.write_text(block("toml") + block("toml", 1) + block("toml", 3))
    scenario = load(file)
    assert len(requesters(scenario, 1)) == 4
    assert {fault.kind for fault in draw_faults(scenario, 1)} == set(FaultKind) - {
        FaultKind.SLEEP,
        FaultKind.WAKE,
    }


def test_topics_and_hubs_can_be_added_to_the_ground_of_the_example(tmp_path):
    file = tmp_path / "alarm.toml"
    ground, _, _ = block("toml").partition("[workload.types")
    file.write_text(ground + block("toml", 2))
    assert len(requesters(load(file), 1)) == 24 - 5
