"""The command line `roamcast`: one module per command, which calls the package that does the work."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run the command `roamcast` with the arguments of this process."""
    foreground = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # a background process ignores it
    if foreground:
        signal.signal(signal.SIGINT, _leave)
    try:
        from roamcast.cli.app import invoke
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "roamcast":
            raise
        print(f"roamcast: the command needs {error.name}: pip install 'roamcast[lab]'", file=sys.stderr)
        sys.exit(2)

    if sys.stdout is None or sys.stderr is None:  # closed by the parent process
        if sys.stderr is not None:
            print("roamcast: cannot write: standard output is closed", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack some characters

    def loaded() -> None:
        if foreground:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    sys.exit(invoke(sys.argv[1:], loaded))


def _leave(*_: Any) -> None:
    """End the process at once, because an exception raised while modules are imported may be lost."""
    os.write(2, b"roamcast: interrupted\n")
    os._exit(130)
