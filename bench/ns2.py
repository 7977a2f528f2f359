"""ns-2 as a rival: the flooding of the bench, by Debian's `ns2` with the Tcl agent of validation/tcl."""

import shutil
from pathlib import Path

from validation import ns2, ours
from validation.grounds import field
from validation.ns2 import Send

NATIVE = {50: 43, 200: 116, 800: 201}
"Microseconds of CPU a transmission of ns-2.35 with an agent in C++, on a quiet machine with two cores."


def installed() -> bool:
    return shutil.which("ns") is not None


def flood_microseconds(nodes: int, seconds: float, sends: list[Send], folder: Path) -> float:
    """CPU microseconds that ns-2 spends on each transmission; the making of its nodes is left out."""
    ground = ours.lay_out(field(seconds, nodes), 1, folder)
    run = ns2.flood(ground, sends, 1)
    idle = ns2.flood(ground, sends[:1], 1)
    return 1e6 * (run.cpu_seconds - idle.cpu_seconds) / (run.transmissions - idle.transmissions)
