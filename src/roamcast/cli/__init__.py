"""The command: one file per verb; opens doors and decides nothing."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run the command `roamcast` with the arguments of this process."""
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in the background
    if heeds:
        signal.signal(signal.SIGINT, _leave)
    try:
        from roamcast.cli.app import invoke
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "roamcast":
            raise
        print(f"roamcast: the command needs {error.name}: pip install 'roamcast[lab]'", file=sys.stderr)
        sys.exit(2)

    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        if sys.stderr is not None:
            print("roamcast: cannot write: standard output is closed", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a plain terminal cannot show every letter

    def loaded() -> None:
        if heeds:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    sys.exit(invoke(sys.argv[1:], loaded))


def _leave(*_: Any) -> None:
    """End at once: while modules are loaded an exception may be lost or become another."""
    os.write(2, b"roamcast: interrupted\n")
    os._exit(130)
