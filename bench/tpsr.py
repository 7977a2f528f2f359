"""Simulated seconds per CPU second for TPSR and P-PUBS in the open field of 200 nodes.

`python -m bench.tpsr`. The whole run counts, facts included; best of two rounds. Goal: all figures of the
campaign schnitzer with ten seeds within 40 minutes on two cores: about 7 CPU seconds a run.
"""

import gc
from pathlib import Path

from roamcast.metrics.run_metrics import measure
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

OPEN_FIELD = Path(__file__).parents[1] / "scenarios" / "open-field.toml"
SEED = 2
PROTOCOLS = ("tpsr", "p-pubs")
ROUNDS = 2


def main() -> None:
    scenario = load(OPEN_FIELD)
    for protocol in PROTOCOLS:
        best, sent = float("inf"), 0
        for _ in range(ROUNDS):
            gc.collect()
            facts = simulate(scenario, protocol, SEED)
            best = min(best, facts.cpu_seconds or 0.0)
            sent = len(facts["transmissions"])
        speed = scenario.duration / best
        delivered = measure(facts).delivery_rate
        print(
            f"{protocol:<20}{speed:8.0f} simulated s per CPU s; {best:.1f} CPU s a run,"
            f" {sent} transmissions, {1e6 * best / sent:.0f} us each, {delivered:.1%} delivered"
        )


if __name__ == "__main__":
    main()
