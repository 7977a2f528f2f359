"""`roamcast new router` writes files that work as they are; `roamcast trace` prints a node's steps."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.routing import catalogue

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


@pytest.fixture
def written(tmp_path, capsys):
    assert invoke(["new", "router", "my-gossip", "--package", "--into", str(tmp_path)]) == 0
    capsys.readouterr()
    yield tmp_path
    catalogue.remove("my-gossip")


def test_the_written_test_passes_as_it_is(written):
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", written]
    completed = subprocess.run(
        [*map(str, program), str(written / "test_my_gossip.py")], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0 and "2 passed" in completed.stdout, completed.stdout


def test_the_written_router_runs_and_its_trace_is_printed(written, capsys):
    facts = written / "facts"
    router = f"{written / 'my_gossip.py'}:MyGossip"
    assert invoke(["run", str(SQUARE), "--router", router, "--facts", str(facts), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["delivery_rate"] > 0.7
    assert invoke(["trace", str(facts), "--node", "3", "--from", "2s", "--to", "4s", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)
    assert {"sends", "loses"} <= {step["what"] for step in steps}
    assert all(2 <= step["time"] <= 4 for step in steps)
    assert invoke(["trace", str(facts), "--node", "3", "--from", "2s", "--to", "4s"]) == 0
    assert "MyGossipData" in capsys.readouterr().out


def test_the_written_package_registers_the_protocol(written):
    project = tomllib.loads((written / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["roamcast.routers"] == {"my-gossip": "my_gossip:MyGossip"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["new", "router", "My_Router"], "is not a protocol name; expected lower-case letters"),
        (["new", "router", "cbr"], "the protocol 'cbr' exists already"),
        (["new", "router", "random"], "the module of 'random' would hide the Python module"),
        (["new", "router", "../x"], "is not a protocol name"),
        (["trace", "nowhere", "--node", "1"], "nowhere"),
        (
            ["trace", "nowhere", "--node", "1", "--from", "2s", "--to", "1s"],
            "--to '1s' is before --from '2s'",
        ),
        (["trace", "nowhere", "--node", "1", "--from", "2"], "has no unit"),
    ],
)
def test_a_mistake_is_one_line(arguments, expected, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(arguments) == 2
    message = capsys.readouterr().err
    assert expected in message and message.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_no_file_is_overwritten(written, capsys):
    (written / "my_gossip.py").write_text("mine")
    (written / "test_my_gossip.py").unlink()
    assert invoke(["new", "router", "my-gossip", "--into", str(written)]) == 2
    assert (written / "my_gossip.py").read_text() == "mine"
    assert not (written / "test_my_gossip.py").exists()
