"""What the README shows works as shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

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
        elif words[1] in ("compare", "reproduce", "check", "why"):
            words = [*words[:2], "--help"]  # they take minutes, or files of the reader's own
        program = [sys.executable, "-c", "from roamcast.cli import main; main()", *words[1:]]
        told = subprocess.run(program, check=False, capture_output=True, text=True, cwd=ROOT)
        assert told.returncode == 0, told.stderr
