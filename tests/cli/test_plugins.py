"""Routers of others: a broken one breaks nothing but itself, and a failing one is told with its traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.cli.app import invoke

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"
FAILING = '''
from roamcast.routing.flooding import Flooding

class Failing(Flooding):
    """Fails over what it hears."""

    def receive(self, message, sender, signal):
        raise LookupError("lost my way")

class Quitting(Flooding):
    """Ends the process over what it hears."""

    def receive(self, message, sender, signal):
        raise SystemExit(0)
'''


@pytest.fixture
def environment(tmp_path):
    """Two packages as pip would leave them: one that cannot be imported, one whose router fails."""
    (tmp_path / "burnt.py").write_text("raise RuntimeError('this package is broken')\n")
    (tmp_path / "failing.py").write_text(FAILING)
    info = tmp_path / "burnt-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: burnt\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[roamcast.routers]\nburnt = burnt:Burnt\nodd = json:dumps\n"
        "failing = failing:Failing\nquitting = failing:Quitting\n"
    )
    return os.environ | {"PYTHONPATH": str(tmp_path)}


def roamcast(environment, *arguments):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    return subprocess.run(program, check=False, env=environment, capture_output=True, text=True)


def test_the_list_of_protocols_tells_which_are_broken(environment):
    completed = roamcast(environment, "protocols", "--json")
    rows = {row["protocol"]: row["about"] for row in json.loads(completed.stdout)}
    assert completed.returncode == 0 and rows["flooding"] and rows["failing"]
    reason = (
        "the protocol 'burnt' of burnt (burnt:Burnt) cannot be loaded: RuntimeError: this package is broken"
    )
    assert rows["burnt"] == reason
    assert "expected a subclass of Router" in rows["odd"]


def test_a_broken_protocol_that_is_asked_for_is_told_in_a_line(environment):
    completed = roamcast(environment, "run", SQUARE, "--protocol", "burnt")
    assert completed.returncode == 2 and "this package is broken" in completed.stderr
    assert completed.stderr.count("\n") == 1


def test_a_router_that_fails_is_told_in_a_line_and_its_traceback_kept_with_the_run(environment, tmp_path):
    facts = tmp_path / "facts"
    completed = roamcast(environment, "run", SQUARE, "--protocol", "failing", "--facts", facts, "--json")
    assert completed.returncode == 3
    assert "roamcast: failing failed on node" in completed.stderr and "Traceback" not in completed.stderr
    kept = (facts / "traceback.txt").read_text()
    assert "LookupError: lost my way" in kept and "failing.py" in kept


def test_a_router_that_ends_the_process_fails_its_run(environment):
    completed = roamcast(environment, "run", SQUARE, "--protocol", "quitting", "--json")
    assert completed.returncode == 3
    assert "roamcast: quitting failed on node" in completed.stderr and "SystemExit: 0" in completed.stderr
    assert completed.stdout == ""


def test_a_protocol_tells_its_parameters_with_units(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert invoke(["protocols", "flooding"]) == 0
    output = capsys.readouterr().out
    assert "10 ms" in output and max(map(len, output.splitlines())) <= 80
    assert invoke(["protocols", "cbr", "--json"]) == 0
    rows = {row["parameter"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["renew"]["written"] == "7 s" and rows["renew"]["default"] == 7.0
    assert rows["covering"]["written"] == "false" and rows["hop_limit"]["written"] == "64"
