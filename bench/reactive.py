"""Simulated seconds per CPU second of AODV and DSR in a field of 200 nodes, beside ns-2 in the same run.

Both sides have the movement, the traffic and the rules of the comparison in `validation/reactive.py`.
Goal: five times ns-2.
"""

import gc
import shutil
import tempfile
from pathlib import Path

from roamcast.routing.unicast.aodv.parameters import NS2 as AODV
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR
from validation import grounds, ns2, ours
from validation.reactive import FAST, MAC

SECONDS = 60.0
SEED = 101
ROUNDS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ground = ours.lay_out(grounds.field(SECONDS), 1, Path(folder))
        sends = grounds.one_to_one(SECONDS, ground.nodes, 1)
        for routing, rules in (("AODV", AODV), ("DSR", DSR)):
            spent = []
            for _ in range(ROUNDS):
                gc.collect()
                run = ours.unicast(
                    ground,
                    sends,
                    SEED,
                    protocol=rules,
                    routing=routing.lower(),
                    rates=FAST,
                    mac=MAC[routing],
                )
                spent.append(run.cpu_seconds)
            speed = SECONDS / min(spent)
            ratio = ""
            if shutil.which("ns"):
                rival = ns2.unicast(ground, sends, SEED, feedback=False, routing=routing, rates=FAST)
                ratio = f"{speed * rival.cpu_seconds / SECONDS:8.1f} times ns-2"
            print(f"{routing.lower() + '-unicast':<20}{speed:8.0f} simulated s per CPU s{ratio}")


if __name__ == "__main__":
    main()
