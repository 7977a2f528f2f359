"""Examples of pages, as a reader meets them: files to write, commands to type, Python to run, in order.

The second word of a block's info string is the file that the page asks the reader to write; with a `+`
before it the block is added to that file. `sh` and `console` blocks hold commands, `python` blocks without
a file are run. In a `console` block the output of a command follows it: it is compared line by line, `...` on
a line of its own stands for any lines, and numbers that depend on the machine count as equal.

`python tests/docs/pages.py PAGE...` follows pages and writes the outputs that differ into them.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SOMEWHERE_ELSE = ("make", "git", "source")
"Commands that are about the checkout itself; that their targets exist is tested apart."
_OF_THE_MACHINE = re.compile(r"(processor time *[│|]? *)[\d.,]+ m?s|^duration: .*|\S*/report\.html")
"""What a machine decides: the time that a run took, and where a folder is."""


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

    def shown(self, command):
        """The lines that a `console` block shows as the output of a command; None if it shows none."""
        if self.language != "console":
            return None
        after = self.text.split(f"$ {command}\n", 1)[1].split("\n$ ")[0]
        return None if after.startswith("$ ") else after.rstrip().splitlines() or None


def agrees(shown, printed):
    """Whether the lines that a page shows are what a command printed; `...` stands for any lines."""

    def same(line):
        return " ".join(_OF_THE_MACHINE.sub(r"\1#", line).split())

    wanted, result = [same(line) for line in shown], [same(line) for line in printed if line.strip()]
    wanted = [line for line in wanted if line]
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in wanted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in result)) is not None


def blocks(page):
    """The blocks of a page that have a language, in order."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text())]


def runnable(page):
    """Whether there is anything to run on a page."""
    return any(block.language in ("sh", "console", "python") or block.file for block in blocks(page))


def refuse(page, command, shown, printed):
    """Fail: a page shows another output than a command prints."""
    wanted = "\n".join(shown)
    raise AssertionError(f"{page.name}: {command}\nthe page shows:\n{wanted}\nit prints:\n{printed}")


def rewrite(page, command, shown, printed):
    """Write the output of a command into its page; one with `...` is left to its author."""
    if "..." in shown:
        print(f"{page.name}: {command}: look at it:\n{printed}")
        return
    before = "\n".join(shown)
    after = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
    text = page.read_text()
    page.write_text(text.replace(f"$ {command}\n{before}", f"$ {command}\n{after}"))


def follow(page, folder, skip=lambda command: False, differ=refuse):
    """Do what a page says, from top to bottom, in `folder`; `differ` gets outputs that are not as shown."""
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
                result = f"{page.name}: {command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
                assert done.returncode == 0 or (words[:2] == ["roamcast", "diff"] and done.returncode == 1), (
                    result
                )
                shown = block.shown(command)
                if shown is not None and not agrees(shown, done.stdout.splitlines()):
                    differ(page, command, shown, done.stdout)
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


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            follow(Path(name), Path(folder), differ=rewrite)
