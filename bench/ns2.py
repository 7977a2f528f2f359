"""ns-2 as a rival: the flooding of the bench, by Debian's `ns2` with the Tcl agent of validation/tcl."""

import shutil
from pathlib import Path
from typing import NamedTuple

from validation import ns2, ours
from validation.grounds import field
from validation.ns2 import Send


class Known(NamedTuple):
    """Microseconds of CPU a transmission of ns-2.35, measured on a quiet machine with two cores."""

    native: float
    "With an agent in C++."
    tcl: float
    "With an agent in Tcl."


KNOWN = {50: Known(43, 199), 200: Known(116, 382), 800: Known(201, 605)}
"The middles of what was measured at 140 nodes to the square kilometre."


def installed() -> bool:
    return shutil.which("ns") is not None


def flood_microseconds(nodes: int, seconds: float, sends: list[Send], folder: Path) -> float:
    """CPU microseconds that ns-2 spends on each transmission; the making of its nodes is left out."""
    ground = ours.lay_out(field(seconds, nodes), 1, folder)
    run = ns2.flood(ground, sends, 1)
    idle = ns2.flood(ground, sends[:1], 1)
    return 1e6 * (run.cpu_seconds - idle.cpu_seconds) / (run.transmissions - idle.transmissions)
