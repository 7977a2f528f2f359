"""The command: one file per verb; opens doors and decides nothing."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import NoReturn


def main() -> NoReturn:
    """Run the command `roamcast` with the arguments of this process."""
    from roamcast.cli.app import invoke

    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        if sys.stderr is not None:
            print("roamcast: cannot write: standard output is closed", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a plain terminal cannot show every letter
    sys.exit(invoke(sys.argv[1:]))
