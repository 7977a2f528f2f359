"""The command in this process: it saves the start of an interpreter for each question."""

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from roamcast.cli.app import invoke


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def roamcast(*arguments):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = invoke([*map(str, arguments)])
    return Ended(code, out.getvalue(), err.getvalue())
