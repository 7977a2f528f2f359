"""The commands of the page, for a shorter time; a busy machine makes their runs invalid."""

import re
import shlex
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.cli.shared.limits import FAILED

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^roamcast (.*)$", (ROOT / "docs" / "testbed.md").read_text(), re.MULTILINE)


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    assert [command.split()[0] for command in COMMANDS] == ["testbed", "testbed", "why"]
    for command in COMMANDS:
        short = ["--set", 'duration="12 s"'] if command.startswith("testbed") else []
        assert invoke([*shlex.split(command), *short]) in (0, FAILED), capsys.readouterr().err
    assert (tmp_path / "run" / "run.json").exists()
