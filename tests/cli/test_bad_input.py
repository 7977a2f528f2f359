"""What a person can get wrong: one clear message, exit code 2, no traceback."""

import subprocess
import sys

import pytest

from roamcast.cli.app import invoke

GOOD = """\
name = "tiny"
area = { width = "300 m", height = "200 m" }
duration = "20 s"

[nodes.all]
count = 3

[radio]
range = "100 m"
"""
MOVES = "".join(f"$node_({n}) set X_ 10\n$node_({n}) set Y_ 10\n" for n in range(3))
PLAN = "time,publisher,size\n1,0,100\n2,1,100\n"


@pytest.fixture
def refuse(tmp_path, monkeypatch, capsys):
    """Run the scenario, and expect a message."""
    monkeypatch.chdir(tmp_path)

    def expect(message, *arguments):
        assert invoke(["run", "s.toml", *arguments]) == 2
        out, err = capsys.readouterr()
        assert message in err and out == "" and "Traceback" not in err

    return expect


CASES = {
    "unknown key": (("range", "rnage"), [], "s.toml:9: radio.rnage: unknown key; did you mean 'range'?"),
    "wrong unit": (
        ("100 m", "100 s"),
        [],
        "s.toml:9: radio.range: '100 s' has unit 's'; expected one of m, km, cm",
    ),
    "no unit": (('"100 m"', "100"), [], "s.toml:9: radio.range: 100 has no unit"),
    "negative count": (
        ("= 3", "= -3"),
        [],
        "s.toml:6: nodes.all.count: should be greater than or equal to 1",
    ),
    "not TOML": (("[radio]", "[radio"), [], "s.toml: not valid TOML"),
    "override of an unknown key": (
        None,
        ["--set", "radio.rang=1 m"],
        "--set: radio.rang: unknown key; did you mean",
    ),
    "override without a value": (None, ["--set", "radio.range"], "write it as key=value"),
    "missing movement": (None, ["--set", "mobility.ns2=gone.mov"], "mobility.ns2: no such file: gone.mov"),
    "missing schedule": (
        None,
        ["--set", "workload.schedule=gone.csv"],
        "workload.schedule: no such file: gone.csv",
    ),
    "unknown protocol": (
        None,
        ["--protocol", "floodign"],
        "unknown protocol 'floodign'; did you mean 'flooding'?",
    ),
    "seed that is no number": (None, ["--seed", "one"], "Invalid value for '--seed'"),
    "negative seed": (None, ["--seed", "-1"], "Invalid value for '--seed'"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_gets_one_clear_message(tmp_path, refuse, case):
    change, arguments, expected = CASES[case]
    (tmp_path / "s.toml").write_text(GOOD.replace(*change) if change else GOOD)
    refuse(expected, *arguments)


def test_the_command_itself_says_the_same(tmp_path):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", "run", "s.toml"]
    completed = subprocess.run(
        program, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr == "roamcast: s.toml: no such file\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("$node_(3) set X_ 1", "m.mov:7: node 3 is outside the range; the scenario has nodes 0 to 2"),
        ('$ns_ at 1 "$node_(0) setdest 301 5 1"', "m.mov:7: (301, 5) is outside the area of 300 m x 200 m"),
    ],
)
def test_a_movement_that_cannot_be_followed(tmp_path, refuse, line, expected):
    (tmp_path / "s.toml").write_text(GOOD)
    (tmp_path / "m.mov").write_text(MOVES + line)
    refuse(expected, "--set", "mobility.ns2=m.mov")


def test_a_schedule_that_is_not_sorted(tmp_path, refuse):
    (tmp_path / "s.toml").write_text(GOOD)
    (tmp_path / "p.csv").write_text(PLAN + "1.5,0,100\n")
    refuse("p.csv:4: not sorted: 1.5 s comes after 2 s", "--set", "workload.schedule=p.csv")


def test_facts_where_nothing_can_be_written(tmp_path, refuse):
    (tmp_path / "s.toml").write_text(GOOD)
    refuse("s.toml: facts cannot be written", "--facts", "s.toml")
