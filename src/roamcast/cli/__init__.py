"""The command: one file per verb; opens doors and decides nothing."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import NoReturn


def main() -> NoReturn:
    """Run the command `roamcast` with the arguments of this process."""
    from roamcast.cli.app import invoke

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a plain terminal cannot show every letter
    sys.exit(invoke(sys.argv[1:]))
