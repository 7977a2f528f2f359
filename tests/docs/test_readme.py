"""What the README shows works as shown."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_comparison_comes_out_as_shown(tmp_path):
    command, *shown = blocks("console")[0].splitlines()
    words = shlex.split(command.removeprefix("$ roamcast "))
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    completed = subprocess.run(
        program, check=True, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"COLUMNS": "80"}
    ).stdout
    printed = [line.rstrip() for line in completed.splitlines()]
    assert [line for line in shown if line != "..."] == [line for line in printed if line in shown]
