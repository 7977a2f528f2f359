from pathlib import Path

import pytest

from roamcast.scenario.read import ScenarioError, load

SCENARIOS = Path(__file__).parents[2] / "scenarios"

MINIMAL = """\
name = "tiny"
area = { width = "300 m", height = "200 m" }
duration = "60 s"

[nodes.all]
count = 3
"""


def scenario(tmp_path, text, *overrides):
    file = tmp_path / "s.toml"
    file.write_text(text)
    return load(file, overrides)


def complaint(tmp_path, text, *overrides):
    with pytest.raises(ScenarioError) as caught:
        scenario(tmp_path, text, *overrides)
    return str(caught.value).replace(str(tmp_path) + "/", "")


def test_the_shopping_district_is_that_of_the_paper():
    s = load(SCENARIOS / "shopping.toml")
    assert (s.area.width, s.area.height, s.duration, s.warmup, s.count) == (1000, 500, 800, 200, 51)
    assert list(s.nodes_of("walkers")) == list(range(1, 51))
    assert s.groups["walkers"].speed == (0.1, 1.0)
    assert s.mac.rate == 2e6
    assert s.workload.publish["shop"].size == 512


def test_the_open_field_has_the_density_of_the_paper():
    s = load(SCENARIOS / "open-field.toml")
    assert s.count / (s.area.width * s.area.height / 1e6) == pytest.approx(140, rel=1e-4)
    assert s.mac.rate == 11e6


def test_an_override_speaks_units_too(tmp_path):
    s = scenario(tmp_path, MINIMAL, "radio.range=200 m", "nodes.all.count=5", "protocol.flooding.jitter=5 ms")
    assert s.radio.range == 200
    assert s.count == 5
    assert s.parameters("flooding").jitter == 0.005


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("[radio]\nrnage = '1 m'", "s.toml:8: radio.rnage: unknown key; did you mean 'range'?"),
        (
            "[radio]\nrange = '1 s'",
            "s.toml:8: radio.range: '1 s' has unit 's'; expected one of m, km, cm, as in '250 m'",
        ),
        (
            "[radio]\nrange = 250",
            "s.toml:8: radio.range: 250 has no unit; write it as a string, like '250 m'",
        ),
        (
            "[nodes.more]\ncount = -4",
            "s.toml:8: nodes.more.count: should be greater than or equal to 1, not -4",
        ),
        ("[node.more]\ncount = 1", "s.toml:7: node: unknown key; did you mean 'nodes'?"),
        ("[nodes.more]\nmobility = 'waypont'\ncount = 2", "s.toml:8: nodes.more.mobility"),
        (
            "[nodes.more]\nmobility = 'waypoint'\ncount = 2",
            's.toml:7: nodes.more: mobility = "waypoint" needs a speed',
        ),
        (
            "[nodes.more]\ncount = 1\nat = [['400 m', '0 m']]",
            "s.toml:9: nodes.more.at: (400, 0) lies outside the area",
        ),
        (
            "[protocol.floding]\n",
            "protocol.floding: unknown protocol 'floding'; did you mean 'flooding'?",
        ),
        (
            "[protocol.flooding]\njiter = '1 ms'",
            "s.toml:8: protocol.flooding.jiter: unknown parameter; did you mean 'jitter'?",
        ),
        ("[protocol.flooding]\njitter = 3", "s.toml:8: protocol.flooding.jitter: 3 has no unit"),
        ("[mobility]\nns2 = 'gone.mov'", "s.toml: mobility.ns2: no such file: gone.mov"),
        (
            "[workload.publish.al]\nevery = '1 s'",
            "workload.publish.al: no group of nodes has this name; did you mean 'all'?",
        ),
        ("[workload.publish.all]\nevery = '1 s'", "workload.publish.all.content: there are no zones"),
        ("= 3", "s.toml: not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_file_line_key_and_remedy(tmp_path, added, expected):
    assert expected in complaint(tmp_path, MINIMAL + added)


def test_a_mistake_in_an_override_is_blamed_on_the_override(tmp_path):
    assert complaint(tmp_path, MINIMAL, "radio.rnage=1 m").startswith(
        "--set: radio.rnage: unknown key; did you mean"
    )
    assert "key=value" in complaint(tmp_path, MINIMAL, "radio.range")
    assert "name is a value and has no keys" in complaint(tmp_path, MINIMAL, "name.x=1")


def test_a_single_speed_is_the_slowest_and_the_fastest(tmp_path):
    walkers = "[nodes.walkers]\ncount = 2\nmobility = 'waypoint'\nspeed = '1.5 m/s'"
    assert scenario(tmp_path, MINIMAL + walkers).groups["walkers"].speed == (1.5, 1.5)
    assert "should be a table or a list, not true" in complaint(
        tmp_path, MINIMAL + walkers.replace("'1.5 m/s'", "true")
    ).replace("True", "true")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("nodes.all.mobility=walk", "should be 'static', 'waypoint' or 'file', not 'walk'"),
        ("workload.publish.all.phase=soon", "should be 'random', not 'soon'; or 'soon' is not a quantity"),
        (
            "workload.publish.all.phase=-100 s",
            "should be 'random', not '-100 s'; or should be greater than or equal to 0",
        ),
        (
            "workload.publish.all.content={type='x', valeus={}}",
            "content.valeus: unknown key; did you mean 'values'?",
        ),
        ("nodes.all.speed={min='1 m/s', mx='1 m/s'}", "speed.mx: unknown key; did you mean 'max'?"),
        ("radio=3", "radio: should be a table, not 3"),
        ("location=1", "location: should be true or false, not 1"),
    ],
)
def test_complaints_speak_of_files_and_not_of_python(tmp_path, setting, expected):
    assert expected in complaint(tmp_path, MINIMAL, setting)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(ScenarioError, match="no such file"):
        load(tmp_path / "none.toml")


def test_the_fingerprint_follows_the_content_and_not_the_place(tmp_path):
    (tmp_path / "other").mkdir()
    assert scenario(tmp_path, MINIMAL).fingerprint() == scenario(tmp_path / "other", MINIMAL).fingerprint()
    assert (
        scenario(tmp_path, MINIMAL).fingerprint()
        != scenario(tmp_path, MINIMAL, "radio.range=9 m").fingerprint()
    )
