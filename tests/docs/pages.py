"""Examples of pages, as a reader meets them: files to write, commands to type, Python to run, in order.

The second word of a block's info string is the file that the page asks the reader to write; with a `+`
before it the block is added to that file. `sh` and `console` blocks hold commands, `python` blocks without
a file are run.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SOMEWHERE_ELSE = ("make", "git", "source")
"Commands that are about the checkout itself; that their targets exist is tested apart."


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    file: str
    text: str

    def commands(self):
        """The commands that a reader would type."""
        lines = self.text.splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line for line in lines if shlex.split(line, comments=True)]


def blocks(page):
    """The blocks of a page that have a language, in order."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text())]


def runnable(page):
    """Whether there is anything to run on a page."""
    return any(block.language in ("sh", "console", "python") or block.file for block in blocks(page))


def follow(page, folder, skip=lambda command: False):
    """Do what a page says, from top to bottom, in `folder`."""
    (folder / "docs").symlink_to(ROOT / "docs")
    bin_ = folder / "bin"
    bin_.mkdir()
    (bin_ / "roamcast").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from roamcast.cli import main; main()' \"$@\"\n"
    )
    (bin_ / "roamcast").chmod(0o755)
    (bin_ / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')  # a link would leave the venv
    (bin_ / "python").chmod(0o755)
    (bin_ / "pip").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m pip -q "$@" --target {folder}/site --no-deps\n'
    )
    (bin_ / "pip").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PYTHONPATH": f"{folder}:{folder}/site",
        "COLUMNS": "80",
    }
    ran = []
    for block in blocks(page):
        if block.file:
            file = folder / block.file.removeprefix("+")
            known = file.read_text() if block.file.startswith("+") else ""
            file.write_text(known + block.text)
        elif block.language in ("sh", "console"):
            for command in block.commands():
                words = shlex.split(command, comments=True)
                if words[0] in _SOMEWHERE_ELSE or skip(words):
                    continue
                done = subprocess.run(
                    command,
                    shell=True,
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                told = f"{page.name}: {command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
                assert done.returncode == 0 or (words[:2] == ["roamcast", "diff"] and done.returncode == 1), (
                    told
                )
                ran.append((command, done.stdout))
        elif block.language == "python" and not skip(["python"]):
            done = subprocess.run(
                [sys.executable, "-"],
                input=block.text,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{page.name}:\n{block.text}\n{done.stderr[-2000:]}"
            ran.append((block.text, done.stdout))
    return ran
