"""Simulated seconds per CPU second of every protocol in its own world.

`python -m bench.protocols [PROTOCOL ...]`. The world of a protocol is the scenario of the paper that
describes it; the unicast baselines run in the open field. The whole run counts, facts included, in a process
of its own; best of `ROUNDS`. The digest of the facts says whether two versions of the code simulate the same.
"""

from __future__ import annotations

import json
import subprocess
import sys

SHOPPING = ("shopping",)
FIELD = ("open-field", 'duration="100 s"', 'warmup="20 s"')
MARKET = ("cd-market", 'duration="100 s"', 'warmup="20 s"')
CITY = ("city", 'duration="300 s"', 'warmup="100 s"', 'quiet="0 s"')
WORLDS: dict[str, tuple[str, ...]] = {
    "flooding": SHOPPING,
    "cbr": SHOPPING,
    "ft-cbr": SHOPPING,
    "raft-cbr": SHOPPING,
    "dsdv-unicast": SHOPPING,
    "p-pubs": FIELD,
    "tpsr": FIELD,
    "aodv-unicast": FIELD,
    "dsr-unicast": FIELD,
    "gpsr-unicast": (*FIELD, "location=true"),
    "odmrp": MARKET,
    "pubsub-odmrp": MARKET,
    "grid-cbr": CITY,
    "clone": CITY,
}
SEED = 101
ROUNDS = 3
ROW = "{:<14} {:<11} {:>22} {:>14} {:>8}  {}"


def measure(protocol: str) -> dict[str, object]:
    """Run a protocol once in this process; return its speed, transmissions and the digest of its facts."""
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate
    from roamcast.sim.run import simulate

    world, *settings = WORLDS[protocol]
    scenario = load(locate(world), tuple(settings))
    facts = simulate(scenario, protocol, SEED)
    spent, sent = facts.cpu_seconds or 0.0, len(facts["transmissions"])
    return {
        "speed": scenario.duration / spent,
        "sent": sent,
        "each": 1e6 * spent / max(sent, 1),
        "digest": facts.digest(),
    }


def main(chosen: list[str]) -> None:
    """Print a row for each protocol."""
    titles = ("protocol", "world", "simulated s per CPU s", "transmissions", "µs each", "digest of the facts")
    print(ROW.format(*titles))
    for protocol in chosen or list(WORLDS):
        command = [sys.executable, "-m", "bench.protocols", "alone", protocol]
        rounds = [
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            for _ in range(ROUNDS)
        ]
        best = max(rounds, key=lambda found: found["speed"])
        cells = (f"{best['speed']:.1f}", f"{best['sent']:,}", f"{best['each']:.0f}", best["digest"][:12])
        print(ROW.format(protocol, WORLDS[protocol][0], *cells), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
