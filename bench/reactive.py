"""Simulated seconds per CPU second of AODV and DSR in a field of 200 nodes, beside ns-2 in the same run.

Both sides have the movement, the traffic and the rules of the comparison in `families/reactive.py`.
Goal: five times ns-2.
"""

import gc
import shutil
import tempfile
from pathlib import Path

from validation import grounds, ns2, ours
from validation.families.reactive import PROTOCOLS
from validation.plan import FAST

SECONDS = 60.0
SEED = 101
ROUNDS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ground = ours.lay_out(grounds.field(SECONDS), 1, Path(folder))
        sends = grounds.one_to_one(SECONDS, 1, ground.nodes)
        for protocol in PROTOCOLS:
            spent = []
            for _ in range(ROUNDS):
                gc.collect()
                run = ours.unicast(
                    ground,
                    sends,
                    SEED,
                    protocol=protocol.parameters,
                    routing=protocol.name.lower(),
                    rates=FAST,
                    link=protocol.link,
                )
                spent.append(run.cpu_seconds)
            speed = SECONDS / min(spent)
            ratio = ""
            if shutil.which("ns"):
                rival = ns2.unicast(ground, sends, SEED, feedback=False, routing=protocol.name, rates=FAST)
                ratio = f"{speed * rival.cpu_seconds / SECONDS:8.1f} times ns-2"
            print(f"{protocol.name.lower() + '-unicast':<20}{speed:8.0f} simulated s per CPU s{ratio}")


if __name__ == "__main__":
    main()
