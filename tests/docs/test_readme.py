"""What the README shows works as shown."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import roamcast

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_world_in_a_file_runs(tmp_path):
    file = tmp_path / "alarm.toml"
    file.write_text(blocks("toml")[0])
    assert roamcast.run(file).metrics.expected > 50


def test_the_python_lines_run():
    names = {}
    exec(blocks("python")[0].replace('"shopping"', f'"{ROOT}/tests/golden/square.toml"'), names)
    assert names["result"].metrics.delivered > 0


def test_the_commands_are_understood():
    for line in blocks("sh")[1].splitlines():
        words = shlex.split(line, comments=True)
        if words[1] == "run":
            small = ["duration=1 s", "warmup=0 s", "quiet=0 s"]
            words += [word for setting in small for word in ("--set", setting)]
        elif words[1] in ("compare", "reproduce", "check", "why", "diff", "swarm"):
            words = [*words[:2], "--help"]  # they take minutes, or files of the reader's own
        program = [sys.executable, "-c", "from roamcast.cli import main; main()", *words[1:]]
        told = subprocess.run(program, check=False, capture_output=True, text=True, cwd=ROOT)
        assert told.returncode == 0, told.stderr


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_comparison_comes_out_as_shown(tmp_path):
    command, *shown = blocks("console")[0].splitlines()
    words = shlex.split(command.removeprefix("$ roamcast "))
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *words, "--out", str(tmp_path)]
    told = subprocess.run(
        program, check=True, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"COLUMNS": "200"}
    ).stdout
    printed = " ".join(told.replace("│", " ").split())
    cut = shown.index("...")
    for line in (*shown[1:cut], " ".join(shown[cut + 1 :])):
        assert " ".join(line.split()) in printed
