"""GPSR with movement, beside what geometry allows on the same movement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.trail import Trail
from validation.plan import Plan, Topic
from validation.report import Check

TEXT = """\
The world of Karp and Kung (MobiCom 2000): 50 nodes in 1500 x 300 m, 250 m of range, up to 20 m/s; 30 flows of
2 kb/s in packets of 64 B; everyone knows where a destination is, as in their simulations. Each run lasts 60 s
instead of 900, six movements a row. Beside the share delivered stands the share of packets whose receiver had
a path at the moment of sending: a packet without one may still arrive later, and one with a path may lose it,
so neither number bounds the other strictly. Their own curves were not at hand, so no number of theirs is
compared."""

NODES, FLOWS, SIZE, EVERY = 50, 30, 64, 0.25
SETTLING = 10.0


def world(seconds: float, pause: float, seed: int, folder: Path) -> Scenario:
    """Their field, with flows between nodes that are drawn by the seed."""
    random = Random(f"{seed}/flows")
    sends = []
    for _ in range(FLOWS):
        sender, receiver = random.sample(range(NODES), 2)
        time = SETTLING + random.uniform(0, EVERY)
        while time < seconds - 2:
            sends.append((round(time, 6), sender, receiver))
            time += EVERY
    schedule = folder / f"flows-{seed}-{pause:g}.csv"
    lines = [f"{time},{sender},{SIZE},news,to-{receiver}-" for time, sender, receiver in sorted(sends)]
    schedule.write_text("\n".join(["time,publisher,size,type,receivers", *lines]) + "\n")
    moves = {"count": 1, "mobility": "waypoint", "speed": (0.1, 20), "pause": pause}
    wanted = sorted({receiver for *_, receiver in sends})
    return Scenario.model_validate(
        {
            "name": "karp",
            "area": {"width": 1500, "height": 300},
            "duration": seconds,
            "warmup": SETTLING,
            "location": True,
            "nodes": {f"n{node}": moves for node in range(NODES)},
            "workload": {
                "schedule": schedule,
                "subscribe": {
                    f"n{node}": {"interest": [f"/news[receivers = '*-{node}-*']"]} for node in wanted
                },
            },
            "protocol": {"gpsr-unicast": {"location": "known"}},
        }
    )


def shares(scenario: Scenario, seed: int) -> tuple[float, float]:
    """Of what was sent: the share delivered, and the share that had a path when it was sent."""
    trail = Trail(simulate(scenario, "gpsr-unicast", seed))
    pairs = [pair for pair in trail.expected if trail.published[pair[0]] >= SETTLING]
    able = 0
    for publication, node in pairs:
        at = trail.published[publication]
        able += trail.reach.meets(publication >> 32, node, at, at)
    return sum(pair in trail.delivered for pair in pairs) / len(pairs), able / len(pairs)


def play(seconds: float, pause: float, seed: int) -> tuple[float, float]:
    """Both shares of one run."""
    with tempfile.TemporaryDirectory() as name:
        return shares(world(seconds, pause, seed, Path(name)), seed)


def measure(plan: Plan) -> Iterator[Check]:
    """Delivery beside reachability, at three pause times."""
    for pause in (0.0, 60.0, 120.0):
        plan.say(f"GPSR, pause {pause:g} s")
        seeds = plan.seeds(2601, 6)
        both = plan.each(seeds, partial(plan.kept.run, play, plan.seconds(60), pause))
        if both:
            delivered, able = ([pair[n] for pair in both] for n in (0, 1))
            yield Check(f"pause {pause:g} s", "delivery", delivered, able, 0.03, False, planned=len(seeds))


TOPICS = (Topic("GPSR with movement", "reachable", TEXT, measure),)
