"""ODMRP beside what any protocol could reach on the same movement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from math import cos, inf, pi, sin
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import roamcast
from roamcast.api.runs import RunResult
from roamcast.facts.tracks import Tracks
from roamcast.scenario.model import Scenario
from roamcast.scenario.traces.movement import Legs, write_ns2
from roamcast.why.proofs.reachability import Reachability
from validation.plan import Plan, Topic
from validation.report import Check

SIDE, RANGE = 1000.0, 250.0
NODES, MEMBERS, SOURCES, RATE = 50, 20, 5, 2.0
"Sources are members, each of which sends so many packets a second."
SPEEDS = (0, 24, 48, 72)
"Kilometres an hour."
WARMUP, QUIET = 10.0, 2.0
RUNS = 15
"Movements at each speed."

REACHED = """\
50 nodes on 1000 x 1000 m, range 250 m, 2 Mb/s, 20 members of one group, of which 5 send two packets of
512 B a second; everyone moves all the time at the speed of the row, in a random direction, and bounces
off the edges; join requests every 3 s, join tables acknowledged after 75 ms and sent at most three times,
a forwarding group for 9 s (three refreshes, as the Internet draft advises); 100 s on each of fifteen
movements. Compared with the share of pairs of a packet and a member that some path within 250 m joined
when the packet was sent: what is missing is lost to collisions and to a mesh that is out of date. Earlier
pages also held these runs against a band of the authors' curve (Lee et al., INFOCOM 2000) that was
remembered and not read; without a copy of the paper it is left out."""


def bounce(speed: float, seconds: float, seed: int) -> Legs:
    """Everyone in a random direction at one speed, back from the edges as a ball."""
    random = Random(f"{seed}/bounce")
    rows: list[tuple[int, float, float, float, float, float, float]] = []
    for node in range(NODES):
        x, y, angle = random.random() * SIDE, random.random() * SIDE, random.random() * 2 * pi
        vx, vy = speed * cos(angle), speed * sin(angle)
        time = 0.0
        while time < seconds:
            to_edge = [((SIDE if v > 0 else 0.0) - at) / v if v else inf for at, v in ((x, vx), (y, vy))]
            leg = min(*to_edge, seconds - time)
            ends = [min(max(at + v * leg, 0.0), SIDE) for at, v in ((x, vx), (y, vy))]
            rows.append((node, time, x, y, ends[0], ends[1], speed))
            vx, vy = (-v if leg == edge else v for v, edge in zip((vx, vy), to_edge, strict=True))
            (x, y), time = ends, time + leg
    nodes, *columns = map(np.array, zip(*rows, strict=True))
    return Legs(nodes.astype(np.int32), *(column.astype(float) for column in columns))


def play(speed: float, seconds: float, seed: int, protocol: str, **parameters: Any) -> RunResult:
    """One run of the study."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "bounce.mov").open("w") as file:
            write_ns2(bounce(speed, seconds, seed), file)
        random = Random(f"{seed}/phase")
        sends = sorted(
            (WARMUP / 2 + random.random() / RATE + turn / RATE, source)
            for source in range(SOURCES)
            for turn in range(int((seconds - WARMUP / 2 - QUIET) * RATE))
        )
        lines = ["time,publisher,size,type", *(f"{time!r},{source},512,news" for time, source in sends)]
        (folder / "schedule.csv").write_text("\n".join(lines) + "\n")
        scenario = Scenario.model_validate(
            {
                "name": "multicast",
                "area": {"width": SIDE, "height": SIDE},
                "duration": seconds,
                "warmup": WARMUP,
                "nodes": {
                    "members": {"count": MEMBERS, "mobility": "file"},
                    "others": {"count": NODES - MEMBERS, "mobility": "file"},
                },
                "mobility": {"ns2": folder / "bounce.mov"},
                "radio": {"range": RANGE},
                "mac": {"rate": 2e6, "basic_rate": 2e6},
                "workload": {
                    "schedule": folder / "schedule.csv",
                    "subscribe": {"members": {"interest": ["/news"]}},
                },
                "protocol": {protocol: parameters},
            }
        )
        return roamcast.run(scenario, protocol, seed)


def reachable(result: RunResult) -> float:
    """The share of expected pairs that a path joined when the event was published."""
    facts = result.facts
    reach = Reachability(Tracks(facts["legs"], NODES), RANGE)
    sent = {row["publication"]: row for row in facts["publications"].to_pylist() if row["time"] >= WARMUP}
    expected = [row for row in facts["expectations"].to_pylist() if row["publication"] in sent]
    joined = 0
    for row in expected:
        event = sent[row["publication"]]
        joined += reach.together(event["publisher"], row["node"], event["time"])
    return joined / len(expected)


def measure(speed: float, seconds: float, seed: int) -> tuple[float, float]:
    """What ODMRP as published delivers, and what was reachable."""
    settings = {"channels": "one", "refresh": 3.0, "timeout": 9.0, "backoff": 1.0, "passive_ack_tries": 1}
    result = play(speed / 3.6, seconds, seed, "odmrp", **settings)
    return result.metrics.delivery_rate or 0.0, reachable(result)


def measure_all(plan: Plan) -> Iterator[Check]:
    """Delivery at each speed beside the shares that were reachable."""
    for speed in SPEEDS:
        seeds = plan.seeds(3001, RUNS)
        found = plan.each(seeds, partial(plan.kept.run, measure, speed, plan.seconds(100)))
        if found:
            delivered, joined = ([pair[n] for pair in found] for n in (0, 1))
            subject = f"{speed} km/h"
            yield Check(subject, "delivery", delivered, joined, 0.05, False, planned=len(seeds))


TOPICS = (Topic("ODMRP beside geometric reachability", "reachable", REACHED, measure_all),)
