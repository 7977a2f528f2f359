"""The command: one file per verb; opens doors and decides nothing."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command `roamcast` with the arguments of this process."""
    from roamcast.cli.app import invoke

    sys.exit(invoke(sys.argv[1:]))
