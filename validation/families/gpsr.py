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


SPARSE_NODES, SPARSE_SIDE, SPARSE_FLOWS = 60, 1400.0, 10
SPARSE_SPEEDS = ((0.5, 1.5), (4.0, 6.0), (18.0, 20.0))
"Metres a second."


def sparse(seconds: float, speed: tuple[float, float], restart: bool, seed: int, folder: Path) -> Scenario:
    """A field with about six neighbours a node, in which greedy forwarding often gets stuck."""
    random = Random(f"{seed}/sparse")
    sends = []
    for _ in range(SPARSE_FLOWS):
        sender, receiver = random.sample(range(SPARSE_NODES), 2)
        time = SETTLING + random.random()
        while time < seconds - 5:
            sends.append((round(time, 6), sender, receiver))
            time += 1
    schedule = folder / f"sparse-{seed}.csv"
    lines = [f"{time},{sender},{SIZE},news,to-{receiver}-" for time, sender, receiver in sorted(sends)]
    schedule.write_text("\n".join(["time,publisher,size,type,receivers", *lines]) + "\n")
    wanted = sorted({receiver for *_, receiver in sends})
    moves = {"count": 1, "mobility": "waypoint", "speed": speed, "pause": 0}
    return Scenario.model_validate(
        {
            "name": "sparse",
            "area": {"width": SPARSE_SIDE, "height": SPARSE_SIDE},
            "duration": seconds,
            "warmup": SETTLING,
            "location": True,
            "nodes": {f"n{node}": moves for node in range(SPARSE_NODES)},
            "workload": {
                "schedule": schedule,
                "subscribe": {
                    f"n{node}": {"interest": [f"/news[receivers = '*-{node}-*']"]} for node in wanted
                },
            },
            "protocol": {"gpsr-unicast": {"location": "known", "restart": restart}},
        }
    )


def play_sparse(seconds: float, speed: tuple[float, float], restart: bool, seed: int) -> tuple[float, float]:
    """Both shares of one run in the sparse field."""
    with tempfile.TemporaryDirectory() as name:
        return shares(sparse(seconds, speed, restart, seed, Path(name)), seed)


def measure_sparse(plan: Plan) -> Iterator[Check]:
    """Delivery beside reachability in the sparse field, by default and as published."""
    for restart, how in ((True, "by default"), (False, "as published")):
        for speed in SPARSE_SPEEDS:
            subject = f"{speed[0]:g} to {speed[1]:g} m/s, {how}"
            seeds = plan.seeds(2701, 12)
            both = plan.each(seeds, partial(plan.kept.run, play_sparse, plan.seconds(60), speed, restart))
            if both:
                delivered, able = ([pair[n] for pair in both] for n in (0, 1))
                yield Check(subject, "delivery", delivered, able, 0.03, False, planned=len(seeds))


def measure(plan: Plan) -> Iterator[Check]:
    """Delivery beside reachability, at three pause times."""
    for pause in (0.0, 60.0, 120.0):
        seeds = plan.seeds(2601, 6)
        both = plan.each(seeds, partial(plan.kept.run, play, plan.seconds(60), pause))
        if both:
            delivered, able = ([pair[n] for pair in both] for n in (0, 1))
            yield Check(f"pause {pause:g} s", "delivery", delivered, able, 0.03, False, planned=len(seeds))


SPARSE_TEXT = """\
60 nodes on 1400 x 1400 m, about six neighbours each, nobody pauses; ten flows of one packet of 64 B a
second, 60 s, twelve movements a row. Of what had a path GPSR as published delivers less the faster nodes
move: their last beacons tell where they were, neighbours disagree on the planar graph, and a packet in
perimeter mode may circle until its hop limit without ever taking the first edge of its face again, where
it would be dropped. Experiments on other movements: with nodes at rest everything that had a path was
delivered; with four beacons a second instead of one the losses at 4 to 6 m/s fell from 0.020 to 0.006, at
18 to 20 m/s from 0.040 to 0.020. By default (`restart`, decision 0312) a packet that takes an edge of a
face for the second time, or that has come around it, waits for one beacon and begins anew, once at each
node."""

TOPICS = (
    Topic("GPSR with movement", "reachable", TEXT, measure),
    Topic("GPSR in sparse networks", "reachable", SPARSE_TEXT, measure_sparse),
)
