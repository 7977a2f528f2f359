"""Simulated seconds per CPU second in the shopping district with 50 subscribers, beside ns-2's DSDV.

ns-2 carries the same events over the same movement, each as a unicast to every subscriber that wants it.
Goal: FT-CBR and RAFT-CBR at least as fast as that, CBR twice as fast.
"""

import gc
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

from roamcast.facts.tables import Facts
from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from validation import ns2, ours

SHOPPING = Path(__file__).parents[1] / "scenarios" / "shopping.toml"
SEED = 2
PROTOCOLS = ("cbr", "ft-cbr", "raft-cbr")
ROUNDS = 3


def schedule(facts: Facts) -> list[ns2.Send]:
    """The events of a run, each with those who wanted it."""
    wanted = defaultdict(list)
    for row in facts["expectations"].to_pylist():
        wanted[row["publication"]].append(row["node"])
    return [
        ns2.Send(row["time"], row["publisher"], row["size"], tuple(wanted[row["publication"]]))
        for row in facts["publications"].to_pylist()
    ]


def main() -> None:
    scenario = load(SHOPPING)
    best: dict[str, float] = {}
    facts: dict[str, Facts] = {}
    for _ in range(ROUNDS):
        for protocol in PROTOCOLS:
            gc.collect()
            facts[protocol] = simulate(scenario, protocol, SEED)
            spent = facts[protocol].cpu_seconds or 0.0
            best[protocol] = min(best.get(protocol, spent), spent)
    rival = 0.0
    if shutil.which("ns"):
        with tempfile.TemporaryDirectory() as folder:
            ground = ours.lay_out(scenario, SEED, Path(folder))
            run = ns2.unicast(ground, schedule(facts["cbr"]), SEED, feedback=False)
        rival = scenario.duration / run.cpu_seconds
        print(f"{'ns-2, DSDV unicast':<20}{rival:8.0f} simulated s per CPU s")
    else:
        print("ns-2 is not installed (apt-get install ns2): no ratio")
    for protocol in PROTOCOLS:
        speed = scenario.duration / best[protocol]
        ratio = f"{speed / rival:8.1f} times ns-2" if rival else ""
        print(f"{protocol:<20}{speed:8.0f} simulated s per CPU s{ratio}")


if __name__ == "__main__":
    main()
