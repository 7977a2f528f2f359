import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from roamcast.cli.app import COMMANDS, build

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def roamcast(*arguments, cwd=None):
    """The real command, in a process of its own."""
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    return subprocess.run(program, check=False, capture_output=True, text=True, cwd=cwd, timeout=200)


def processor_time(command):
    """The least of three, in seconds of the processor: a busy machine makes any wall clock lie."""
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", command], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


def test_help_takes_little_more_than_the_reader_of_options_itself():
    assert all(verb in roamcast("--help").stdout for verb in COMMANDS)
    help_ = processor_time("from roamcast.cli.app import invoke; invoke(['--help'])")
    assert help_ < 3 * processor_time("import typer")


def test_help_loads_no_room():
    code = (
        "import sys\nfrom roamcast.cli.app import invoke\n"
        "sys.stdout = open('/dev/null', 'w')\ninvoke(['--help'])\n"
        "print(*sys.modules, file=sys.__stdout__)"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in completed.stdout.split()}
    assert not loaded & {"pyspark", "matplotlib", "numpy", "pyarrow", "pydantic", "lxml", "rich", "pandas"}


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_explains_itself(verb):
    completed = roamcast(verb, "--help")
    assert completed.returncode == 0, completed.stderr
    assert COMMANDS[verb].help.split()[0] in completed.stdout


def test_a_verb_that_does_not_exist_is_an_error():
    completed = roamcast("rum")
    assert completed.returncode == 2
    assert "No such command 'rum'" in completed.stderr


@pytest.mark.parametrize("arguments", [["protocols"], ["protocols", "--json"], ["--help"]])
def test_a_full_disk_behind_the_output_is_told_in_a_line(arguments):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *arguments]
    with Path("/dev/full").open("w") as full:
        completed = subprocess.run(program, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (completed.returncode, completed.stderr) == (
        2,
        "roamcast: cannot write: No space left on device\n",
    )


def test_protocols_are_listed_with_what_they_are():
    listed = json.loads(roamcast("protocols", "--json").stdout)
    assert listed[0]["protocol"] == "flooding"
    assert all(row["about"].endswith(".") and "\n" not in row["about"] for row in listed)
    published = {row["protocol"]: row["as published"] for row in listed}
    assert published["flooding"] == "no paper"
    assert published["p-pubs"] == "the default"
    assert "dsdv.detours" in published["raft-cbr"]


def test_a_protocol_tells_its_parameters():
    record = json.loads(roamcast("protocols", "flooding", "--json").stdout)
    assert record[0]["parameter"] == "jitter"
    assert record[0]["default"] == 0.01
    assert "collide" in record[0]["about"]
    raft = json.loads(roamcast("protocols", "raft-cbr", "--json").stdout)
    assert not [row["parameter"] for row in raft if "\n" in row["about"]]


def test_a_protocol_tells_what_it_is_as_published():
    record = {row["parameter"]: row for row in json.loads(roamcast("protocols", "raft-cbr", "--json").stdout)}
    assert record["custody"]["as published"] == "False"
    assert record["dsdv.detours"]["as published"] == "False"
    assert record["dsdv.queue_timeout"]["as published"] == "0 s"
    assert record["ping_wait"]["as published"] == ""


def test_check_tells_good_files_from_bad_ones(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("name = 3")
    completed = roamcast("check", SCENARIOS / "shopping.toml", bad, tmp_path / "none.toml")
    assert completed.returncode == 2
    assert "shopping.toml: a scenario of 51 nodes for 800 s" in completed.stdout
    assert f"{bad}:1: name: should be a string, not 3" in completed.stderr
    assert f"{bad}: area: is missing" in completed.stderr
    assert "none.toml: no such file" in completed.stderr
    assert "Traceback" not in completed.stderr


CAMPAIGN = """\
title = "jitter"
scenario = "SCENARIO"
seeds = 3
protocols = { flooding = {} }

[sweeps.jitter]
protocols = ["flooding"]
grid = { "protocol.flooding.jitter" = ["1 ms", "10 ms"] }
"""


def test_check_knows_campaigns_too(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(CAMPAIGN.replace("SCENARIO", str(SCENARIOS / "shopping.toml")))
    completed = roamcast("check", file)
    assert completed.stdout == f"{file}: a campaign of 6 runs at 2 points\n", completed.stderr
    file.write_text(file.read_text().replace("flooding.jitter", "flooding.jiter"))
    completed = roamcast("check", file)
    assert completed.returncode == 2
    assert "unknown parameter; did you mean 'jitter'?" in completed.stderr


@pytest.mark.parametrize("module", ["typer", "pydantic", "roamcast.scenario.read"])
def test_ctrl_c_while_modules_are_loaded_is_one_line(module):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", "run", "shopping"]
    process = subprocess.Popen(
        program,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"},  # a line on stderr for each module
    )
    while not process.stderr.readline().rstrip().endswith(f" {module}"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=200)
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, said) == (130, ["roamcast: interrupted"])


@pytest.mark.parametrize("verb", [("run", "--set", "duration=100000 s"), ("swarm", "--duration", "1000 s")])
def test_ctrl_c_during_work_is_one_line(verb, tmp_path):
    name, *more = verb
    words = [name, *(["shopping"] if name == "run" else []), *more]
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    process = subprocess.Popen(
        program,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"},
    )
    last = "roamcast.sim.world" if name == "run" else "roamcast.testing.swarm.play"
    while not process.stderr.readline().rstrip().endswith(f" {last}"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=200)
    said = [line for line in errors.splitlines() if line.startswith(("roamcast:", "Traceback", "Aborted"))]
    assert (process.returncode, said) == (130, ["roamcast: interrupted"])


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "..", "a/b\\c"])
def test_a_scenarios_name_does_not_lead_out_of_the_folder(tmp_path, name):
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    text = (SCENARIOS / "shopping.toml").read_text()
    (inner / "s.toml").write_text(text.replace('name = "shopping"', f"name = {json.dumps(name)}"))
    before = set(tmp_path.rglob("*"))
    completed = roamcast("map", "s.toml", cwd=inner)
    assert completed.returncode == 0, completed.stderr
    (made,) = set(tmp_path.rglob("*")) - before
    assert made.parent == inner
    assert made.name.endswith("-map.svg")


def test_no_command_is_listed_with_half_a_sentence():
    groups = 0
    for name in COMMANDS:
        command = get_command(build(name)).commands[name]
        for child in getattr(command, "commands", {}).values():
            listed = child.get_short_help_str(80 - 6 - max(map(len, command.commands)))
            assert listed.endswith(".") and "..." not in listed, name
            groups += 1
    assert groups > 20
