"""The verbs that run campaigns, from outside: first words, Ctrl-C, errors."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOPPING = ROOT / "scenarios" / "shopping.toml"


def roamcast(*arguments, **more):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        **more,
    )


def family(mark):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_ctrl_c_ends_a_comparison_says_how_to_resume_and_leaves_nothing_behind(tmp_path):
    mark = uuid.uuid4().hex
    process = roamcast(
        *("compare", SHOPPING, "--protocols", "flooding", "--seeds", 3, "--out", tmp_path),
        *("--set", "duration=100000 s"),
        env=os.environ | {"ROAMCAST_TEST_MARK": mark},
    )
    first = process.stderr.readline()
    assert "3 runs" in first and "starting Spark" in first
    while not list((tmp_path / "staged").glob(".work-*")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    # How quickly it ends is measured by bench/pipeline.py; here it must end at all, and well.
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 130
    assert "Resume with: roamcast compare" in errors and "Traceback" not in errors
    while family(mark):
        time.sleep(0.05)  # they are dying; the test's own time limit ends a hang


def test_a_wrong_protocol_a_missing_campaign_and_an_empty_folder_are_told_in_a_line(tmp_path):
    cases = {
        "unknown protocol 'cbx'": ("compare", SHOPPING, "--protocols", "cbx"),
        "nobody: no such file, and roamcast ships no campaign of this name": ("reproduce", "nobody"),
        "no campaign was run here": ("campaign", "status", tmp_path),
        "no such file": ("campaign", "run", tmp_path / "x.toml", "--out", tmp_path),
        "is a scenario; compare protocols": ("campaign", "run", SHOPPING, "--out", tmp_path),
        "is a campaign, expected a scenario; run it with": ("compare", ROOT / "campaigns" / "petrovic.toml"),
        "shopping.toml: no campaign was run here": ("campaign", "status", SHOPPING),
        "name each protocol once": ("compare", SHOPPING, "--protocols", ""),
    }
    running = {entry: roamcast(*arguments) for entry, arguments in cases.items()}
    for entry, process in running.items():
        _, error = process.communicate(timeout=200)
        assert process.returncode == 2 and entry in error and "Traceback" not in error, error


def test_a_comparison_of_all_protocols_leaves_out_those_that_the_scenario_cannot_serve(tmp_path):
    """Where nodes know where they are, nobody is left out. No folder, no run: it ends there."""
    (tmp_path / "file").touch()
    where = ("--out", tmp_path / "file")
    cases = {
        location: ("compare", SHOPPING, "--set", f"location={location}", *where)
        for location in ("false", "true")
    }
    running = {location: roamcast(*arguments) for location, arguments in cases.items()}
    values = {location: process.communicate(timeout=200)[1] for location, process in running.items()}
    line = "roamcast: left out grid-cbr, clone, gpsr-unicast: they need positions, and shopping does not set"
    assert values["false"].startswith(line), values
    assert "left out" not in values["true"]


def test_without_java_one_line_says_what_to_install(tmp_path):
    process = roamcast(
        *("compare", SHOPPING, "--protocols", "flooding", "--seeds", 1, "--out", tmp_path),
        env=os.environ | {"PATH": str(tmp_path), "JAVA_HOME": ""},
    )
    _, error = process.communicate(timeout=200)
    assert process.returncode == 2 and "Spark needs Java" in error and "Traceback" not in error, error
