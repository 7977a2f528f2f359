"""Whole runs on live nodes; the machine may be busy, so these are small and say nothing of lateness."""

import json

import pytest

from roamcast.cli.app import invoke
from roamcast.cli.shared.limits import FAILED
from roamcast.facts.tables import Facts
from roamcast.metrics.run_metrics import measure
from roamcast.sim.run import simulate
from roamcast.testbed import run as testbed_run
from roamcast.testbed.comparison import compare
from roamcast.testbed.run import run_testbed
from tests.testbed.scenarios import line

TOML = """
name = "line"
area = { width = "700 m", height = "100 m" }
duration = "2 s"
[nodes.line]
count = 2
at = [{ x = "100 m", y = "50 m" }, { x = "300 m", y = "50 m" }]
[workload.types.alert]
level = "integer"
[workload.publish.line]
count = 1
every = "0.5 s"
phase = "0.5 s"
size = "100 B"
content = { type = "alert", values = { level = 3 } }
[workload.subscribe.line]
interest = ["/alert"]
"""


@pytest.fixture(scope="module")
def flooded():
    return run_testbed(line(), "flooding", 1)


def test_every_event_is_delivered_two_hops_away(flooded):
    metrics = measure(flooded[0])
    assert metrics.publications == 5 and metrics.delivery_rate == 1
    assert metrics.duplicate_deliveries == metrics.false_deliveries == 0


def test_simulation_and_testbed_agree(flooded):
    found = compare(simulate(line(), "flooding", 1), flooded[0])
    assert found.agrees
    assert found.simulated.kinds["Flood"] == found.live.kinds["Flood"]
    assert found.live.link_frames_per_event > found.simulated.link_frames_per_event == 0


def test_facts_are_read_again(flooded, tmp_path):
    flooded[0].write(tmp_path)
    again = Facts.read(tmp_path)
    assert again.digests() == flooded[0].digests()
    assert set(again["transmissions"]["kind"].to_pylist()) == {"Flood", "Greeting"}
    assert (again["transmissions"]["airtime"].to_numpy() > 0).all()
    assert set(again["transmissions"]["node"].to_pylist()) == {0, 1, 2}


def test_a_node_that_crashes_gets_nothing_until_it_restarts():
    faults = {"end": {"nodes": [2], "crash": {"at": [1.1], "down": 1.0}}}
    scenario = line(faults=faults)
    facts, outcome = run_testbed(scenario, "flooding", 1)
    rows = facts["deliveries"].to_pylist()
    got = [row["time"] for row in rows if row["node"] == 2]
    assert got and not [time for time in got if 1.15 < time < 2.1] and [time for time in got if time > 2.1]
    assert outcome.errors == 0


def test_a_run_on_a_machine_that_is_too_slow_is_invalid(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(testbed_run, "ALLOWED", 0.0)
    file = tmp_path / "line.toml"
    file.write_text(TOML)
    assert invoke(["testbed", str(file), "--json", "--facts", str(tmp_path / "facts")]) == FAILED
    output = capsys.readouterr()
    assert "invalid run" in output.err and json.loads(output.out)["testbed"]["valid"] is False


def test_a_protocol_that_needs_positions_is_refused_where_there_are_none(tmp_path):
    with pytest.raises(testbed_run.TestbedError, match="needs positions"):
        testbed_run.Testbed(line(), "gpsr-unicast", 1, tmp_path)


def test_a_baseline_that_knows_receivers_and_positions_delivers():
    facts, outcome = run_testbed(line(location=True, duration=6), "gpsr-unicast", 1)
    assert outcome.errors == 0 and measure(facts).delivered > 0


@pytest.mark.parametrize("arguments", [["nowhere.toml"], ["river", "--protocol", "nothing"]])
def test_wrong_arguments_are_one_line(arguments, capsys):
    assert invoke(["testbed", *arguments]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
