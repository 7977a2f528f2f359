"""The page on writing routers is run as it stands: its package is installed, listed and told as a story."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "routers.md").read_text()
SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


def block(language, number=0):
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", PAGE, re.DOTALL)[number]


@pytest.fixture
def installed(tmp_path):
    """The page's package as pip would leave it, on the path of a process."""
    (tmp_path / "gossip.py").write_text(block("python"))
    project = tomllib.loads(block("toml"))["project"]
    info = tmp_path / f"roamcast_gossip-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (group, entries), *_ = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def roamcast(environment, *arguments):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    completed = subprocess.run(program, check=False, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def test_the_example_stays_small():
    lines = [line for line in block("python").splitlines() if line.strip()]
    assert len(lines) <= 40


def test_the_declared_message_has_the_size_that_the_page_says():
    exec(compile(block("python", 1), "routers.md", "exec", dont_inherit=True), {"__name__": "__main__"})


def test_a_third_party_router_is_found_by_its_entry_point(installed):
    assert "gossip" in [row["protocol"] for row in json.loads(roamcast(installed, "protocols", "--json"))]
    (parameter,) = json.loads(roamcast(installed, "protocols", "gossip", "--json"))
    assert parameter["default"] == 0.7


def test_it_runs_in_the_radio_world_with_its_parameters(installed):
    run = ("run", SQUARE, "--protocol", "gossip", "--json", "--set")
    often, seldom = (
        json.loads(roamcast(installed, *run, f"protocol.gossip.probability={probability}"))
        for probability in (1.0, 0.2)
    )
    assert often["delivery_rate"] > 0.6
    assert seldom["messages"]["total"] < often["messages"]["total"] / 2
    assert seldom["drops"]["suppressed"] > 0


def test_its_story_on_a_mesh_is_true(installed, tmp_path):
    story = tmp_path / "test_story.py"
    story.write_text(block("python", 2))
    program = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(story),
    ]
    completed = subprocess.run(program, check=False, env=installed, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout
    assert "1 passed" in completed.stdout
