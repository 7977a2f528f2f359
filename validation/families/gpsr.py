"""GPSR with movement, beside what geometry allows on the same movement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import pyarrow.compute as pc

from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate
from roamcast.why.trail.trail import Trail
from validation.plan import Plan, Topic
from validation.report import Check

TEXT = """\
The world of Karp and Kung (MobiCom 2000): 50 nodes in 1500 x 300 m, 250 m of range, up to 20 m/s; 30 flows of
2 kb/s in packets of 64 B; everyone knows where a destination is, as in their simulations. Each run lasts 60 s
instead of 900, ten movements a row. Beside the share delivered stands the share of packets whose receiver had
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


Shares = tuple[float, float, float]
"Share delivered, share that had a path when it was sent, and transmissions for each packet delivered."


def shares(scenario: Scenario, seed: int) -> Shares:
    """Run GPSR; return what was delivered, what could be, and how many transmissions a delivery took."""
    facts = simulate(scenario, "gpsr-unicast", seed)
    trail = Trail(facts)
    pairs = [pair for pair in trail.expected if trail.published[pair[0]] >= SETTLING]
    able = 0
    for publication, node in pairs:
        at = trail.published[publication]
        able += trail.reach.meets(publication >> 32, node, at, at)
    delivered = sum(pair in trail.delivered for pair in pairs)
    sent = pc.sum(pc.greater_equal(facts["transmissions"]["publication"], 0)).as_py()
    return delivered / len(pairs), able / len(pairs), sent / max(delivered, 1)


def play(seconds: float, pause: float, seed: int) -> Shares:
    """The shares of one run."""
    with tempfile.TemporaryDirectory() as name:
        return shares(world(seconds, pause, seed, Path(name)), seed)


SPARSE_FLOWS = 10


class SparseField(NamedTuple):
    """A square field with few neighbours a node, in which greedy forwarding often gets stuck."""

    nodes: int
    side: float
    "Metres."
    speed: tuple[float, float]
    "Metres a second."


SPARSE_FIELDS = (
    SparseField(60, 1400.0, (0.5, 1.5)),
    SparseField(60, 1400.0, (4.0, 6.0)),
    SparseField(60, 1400.0, (18.0, 20.0)),
    SparseField(100, 2000.0, (4.0, 6.0)),
)


def sparse(seconds: float, field: SparseField, restart: bool, seed: int, folder: Path) -> Scenario:
    """Return flows of one packet a second between nodes of a sparse field."""
    random = Random(f"{seed}/sparse")
    sends = []
    for _ in range(SPARSE_FLOWS):
        sender, receiver = random.sample(range(field.nodes), 2)
        time = SETTLING + random.random()
        while time < seconds - 5:
            sends.append((round(time, 6), sender, receiver))
            time += 1
    schedule = folder / f"sparse-{seed}.csv"
    lines = [f"{time},{sender},{SIZE},news,to-{receiver}-" for time, sender, receiver in sorted(sends)]
    schedule.write_text("\n".join(["time,publisher,size,type,receivers", *lines]) + "\n")
    wanted = sorted({receiver for *_, receiver in sends})
    moves = {"count": 1, "mobility": "waypoint", "speed": field.speed, "pause": 0}
    return Scenario.model_validate(
        {
            "name": "sparse",
            "area": {"width": field.side, "height": field.side},
            "duration": seconds,
            "warmup": SETTLING,
            "location": True,
            "nodes": {f"n{node}": moves for node in range(field.nodes)},
            "workload": {
                "schedule": schedule,
                "subscribe": {
                    f"n{node}": {"interest": [f"/news[receivers = '*-{node}-*']"]} for node in wanted
                },
            },
            "protocol": {"gpsr-unicast": {"location": "known", "restart": restart}},
        }
    )


def play_sparse(seconds: float, field: SparseField, restart: bool, seed: int) -> Shares:
    """The shares of one run in the sparse field."""
    with tempfile.TemporaryDirectory() as name:
        return shares(sparse(seconds, field, restart, seed, Path(name)), seed)


def _checks(subject: str, runs: list[Shares], planned: int) -> Iterator[Check]:
    """Return delivery beside reachability, with the mean number of transmissions a delivery as a note."""
    if runs:
        delivered, able, sent = map(list, zip(*runs, strict=True))
        yield Check(subject, "delivery", delivered, able, 0.03, False, f"{fmean(sent):.1f}", planned)


def measure_sparse(plan: Plan) -> Iterator[Check]:
    """Delivery beside reachability in the sparse field, by default and as published."""
    for restart, how in ((True, "by default"), (False, "as published")):
        for field in SPARSE_FIELDS:
            subject = f"{field.nodes} nodes, {field.speed[0]:g} to {field.speed[1]:g} m/s, {how}"
            seeds = plan.seeds(2701, 12)
            runs = plan.each(seeds, partial(plan.kept.run, play_sparse, plan.seconds(60), field, restart))
            yield from _checks(subject, runs, len(seeds))


def measure(plan: Plan) -> Iterator[Check]:
    """Delivery beside reachability, at three pause times."""
    for pause in (0.0, 60.0, 120.0):
        seeds = plan.seeds(2601, 10)
        runs = plan.each(seeds, partial(plan.kept.run, play, plan.seconds(60), pause))
        yield from _checks(f"pause {pause:g} s", runs, len(seeds))


SPARSE_TEXT = """\
60 nodes on 1400 x 1400 m, about six neighbours each, or 100 on 2000 x 2000 m with five, nobody pauses; ten
flows of one packet of 64 B a second, 60 s, twelve movements a row. Beside each row stands the number of
transmissions for a packet delivered, which includes those of packets without a path. By default (`restart`,
decision 0312) a packet that takes an edge of a face for the second time, or that has come around it, waits
for one beacon and begins anew, once at each node.

Why packets with a path are lost, by experiments that remove one cause each (100 nodes, 4 to 6 m/s, three
other movements, as published, before beacons followed decision 0501): 0.951 of what had a path is delivered;
0.996 if nodes know the exact positions of their neighbours; 0.982 if they extrapolate them from the last two,
0.980 with four beacons a second, 0.964 if the planar graph is computed for each packet, 0.960 with a hop
limit of 255. So stale positions cause nine tenths of the losses: neighbours disagree on the planar graph, and
packets circle until their hop limit.

The paths are long because the faces are long. On exact positions at rest a slow implementation of the same
rules needs 10.7 hops where the shortest path has 5.1 (60 nodes, 1483 pairs), and 28.1 where it has 8.0 (120
nodes on 2200 x 2200 m, 1945 pairs). Three in ten of the former pairs need perimeter mode: 27.1 hops instead
of 8.1. Walks bounded by a circle around the goal, as in GOAFR+, are a quarter shorter there, but delivered
0.935 instead of 0.974 on moving nodes, so they are not offered (decision 0506)."""

TOPICS = (
    Topic("GPSR with movement", "reachable", TEXT, measure, "transmissions a delivery"),
    Topic("GPSR in sparse networks", "reachable", SPARSE_TEXT, measure_sparse, "transmissions a delivery"),
)
