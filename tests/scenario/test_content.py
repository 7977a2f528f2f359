import pytest

from roamcast.scenario.model import Scenario
from roamcast.scenario.read import ScenarioError, load
from roamcast.sim.interest import subscribers
from roamcast.sim.workload import plan

SENSORS = """\
name = "sensors"
area = { width = "300 m", height = "200 m" }
duration = "600 s"

[nodes.all]
count = 6

[workload.types.alert]
level = { kind = "integer", min = 1, max = 5 }
area = ["north", "south"]

[workload.publish.all]
every = "10 s"
gaps = "exponential"
content = { type = "alert", values = { level = [1, 2, 3, 4, 5], area = "north" } }

[workload.subscribe.all]
interest = ["/alert[level > 3]", "/alert[area = 'north']", "/alert[level = 1]"]
choose = 2
"""


def read(tmp_path, text):
    file = tmp_path / "s.toml"
    file.write_text(text)
    return load(file)


def test_events_of_a_declared_type_are_drawn_from_their_template(tmp_path):
    scenario = read(tmp_path, SENSORS)
    events = [p.event for p in plan(scenario, 1).publications]
    assert {event["level"] for event in events} == {1, 2, 3, 4, 5}
    assert {event["area"] for event in events} == {"north"}
    assert {event.type for event in events} == {scenario.content.types["alert"]}


def test_each_subscriber_chooses_two_of_the_three_filters(tmp_path):
    chosen = [s.fixed for s in subscribers(read(tmp_path, SENSORS), 1)]
    assert [len(set(filters)) for filters in chosen] == [2] * 6
    assert len(set(chosen)) > 1


def test_a_scenario_survives_its_json(tmp_path):
    scenario = read(tmp_path, SENSORS)
    again = Scenario.model_validate_json(scenario.model_dump_json(by_alias=True))
    assert again == scenario
    assert again.fingerprint() == scenario.fingerprint()


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("[level > 3]", "[levle > 3]", "s.toml:18: workload.subscribe.all.interest: "),
        ("[level > 3]", "[level >", "s.toml:18: workload.subscribe.all.interest: "),
        (
            '"integer", min',
            '"intger", min',
            "s.toml:8: workload.types.alert: alert/level: 'intger' is not a field type",
        ),
        (
            "[1, 2, 3, 4, 5]",
            "[1, 6]",
            "s.toml:15: workload.publish.all.content: alert/level: 6 is not between 1 and 5",
        ),
        ("level = [1,", "levels = [1,", "alert has no field 'levels'; did you mean 'level'?"),
        ("count = 6", "count = 6000000", "s.toml:5: nodes: 6000000 nodes; expected at most 1000000"),
        (
            'every = "10 s"',
            'every = "1 ns"',
            "s.toml:13: workload.publish.all.every: more than 10000000 publications",
        ),
    ],
)
def test_content_that_cannot_be_is_named_with_its_key(tmp_path, right, wrong, complaint):
    assert right in SENSORS
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, SENSORS.replace(right, wrong))
    assert complaint in str(caught.value)
