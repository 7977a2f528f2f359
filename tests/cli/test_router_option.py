"""`--router FILE.py:CLASS` wherever a command takes a protocol."""

import json
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.routing import catalogue

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"
SOURCE = '''
from roamcast.routing.flooding import Flooding

class HalfFlood(Flooding):
    """Floods every second publication."""

    def receive(self, message, sender, signal):
        if message.publication.sequence % 2:
            return super().receive(message, sender, signal)
'''
CAMPAIGN = """
title = "a router in a file"
scenario = "square.toml"
seeds = 2
[protocols.flooding]
[sweeps.one]
protocols = ["flooding"]
"""


@pytest.fixture
def router(tmp_path):
    file = tmp_path / "half.py"
    file.write_text(SOURCE)
    yield f"{file}:HalfFlood"
    catalogue.remove("half-flood")


def run_command(capsys, *arguments, code=0):
    assert invoke([str(each) for each in arguments]) == code
    return capsys.readouterr()


def test_a_run_uses_it_and_names_it_in_the_facts(router, capsys, tmp_path):
    out = run_command(capsys, "run", SQUARE, "--router", router, "--facts", tmp_path / "facts", "--json").out
    whole = json.loads(run_command(capsys, "run", SQUARE, "--json").out)
    half = json.loads(out)
    assert half["protocol"] == "half-flood" and 0 < half["delivered"] < whole["delivered"]
    assert json.loads((tmp_path / "facts" / "run.json").read_text())["protocol"] == "half-flood"


def test_other_commands_take_it_too(router, capsys, tmp_path):
    rows = json.loads(run_command(capsys, "protocols", "--router", router, "--json").out)
    assert {"jitter"} <= {row["parameter"] for row in rows}
    assert "1 of half-flood" in run_command(capsys, "swarm", "--router", router, "--seed", 1, code=1).out
    (tmp_path / "square.toml").write_text(SQUARE.read_text() + "\n[protocol.half-flood]\n")
    assert "a scenario" in run_command(capsys, "check", tmp_path / "square.toml", "--router", router).out


def test_two_ways_to_say_the_protocol_are_one_too_many(router, capsys):
    both = run_command(capsys, "run", SQUARE, "--router", router, "--protocol", "cbr", code=2)
    assert both.err == "roamcast: --router and --protocol: give one of them\n"


@pytest.mark.spark
def test_a_campaign_runs_it_on_sparks_workers_beside_its_own(router, capsys, tmp_path, monkeypatch):
    (tmp_path / "square.toml").write_text(SQUARE.read_text())
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    run_command(capsys, "campaign", "run", "campaign.toml", "--out", out, "--router", router)
    rows = json.loads(run_command(capsys, "campaign", "runs", out, "--json").out)
    assert len(rows) == 4 and {row["status"] for row in rows} == {"done"}
    again = run_command(capsys, "campaign", "run", "campaign.toml", "--out", out, "--router", router)
    assert "nothing to do" in again.err
    file = Path(router.rpartition(":")[0])
    file.write_text(SOURCE.replace("% 2", "% 3"))
    anew = run_command(capsys, "campaign", "run", "campaign.toml", "--out", out, "--router", router)
    assert "2 of 4 runs are done already" in anew.err
