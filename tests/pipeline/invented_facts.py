"""Facts of runs that never happened: small, odd, and true to the schemas."""

import json
import math
from itertools import pairwise
from random import Random

import pyarrow as pa

from roamcast.facts.schema import TABLES

CATEGORIES = ["event", "subscription", "routing", "control"]
CAUSES = ["duplicate", "no_route", "collision", "retry_limit", "queue_full", "unwanted"]
NODES = 8
DURATION = 100.0
WARMUP = 40.0
"A moment at which things happen more often than by chance, since what is counted begins there."


def invent(seed: int) -> dict[str, pa.Table]:
    """One run's facts: doubled rows, events nobody wanted, deliveries of events never published; a table in
    twenty is empty."""
    random = Random(seed)
    rows: dict[str, list[dict]] = {name: [] for name in TABLES}
    for sequence in range(random.randrange(1, 31)):
        _publish(random, rows, sequence)
    if random.random() < 0.2:
        rows["deliveries"].append({"publication": 999 << 32, "node": 0, "time": 50.0})
    for _ in range(random.randrange(100, 300)):
        rows["transmissions"].append(_transmission(random))
    for _ in range(100):
        drop = {"node": 0, "peer": -1, "category": "event", "kind": "Any", "publication": -1}
        rows["drops"].append(drop | {"time": _moment(random), "cause": random.choice(CAUSES)})
    for _ in range(40):
        wanted = f"/coupon[zone = {random.randrange(3)}]"
        begins = random.random() < 0.7
        rows["interests"].append(
            {"time": _moment(random), "node": _node(random), "wanted": wanted, "begins": begins}
        )
    for number in range(random.randrange(10, 60)):
        rows["requests"].append(_request(random, number))
    for time in (0.0, 20.0, WARMUP, 60.0, 80.0):
        for node in range(NODES):
            for table in ("routes", "seen")[: random.randrange(3)]:
                held = {"entries": random.randrange(50), "bytes": random.randrange(2000)}
                rows["tables"].append({"time": time, "node": node, "table": table} | held)
    for _ in range(random.randrange(5, 40)):
        state = {"name": random.choice(["community", "community", "up"]), "value": float(random.randrange(5))}
        rows["states"].append({"time": _moment(random), "node": _node(random)} | state)
    for node in range(NODES):
        rows["states"] += _states(random, node)
        rows["legs"] += _walk(random, node)
    for name, table in rows.items():
        if random.random() < 0.05:
            table.clear()
        random.shuffle(rows[name])
    return {name: pa.Table.from_pylist(rows[name], schema) for name, schema in TABLES.items()}


def _states(random, node):
    """Levels that rise and fall, and counts that rise, with a start anew now and then."""
    found = []
    for name in ("channels", "forwarding_groups", "noise", "false_joins", "up"):
        value = 0
        times = sorted({_moment(random) for _ in range(random.choice((0, 0, 2, 6)))})
        for time in times:
            rises = name in ("noise", "false_joins") and random.random() < 0.9
            value = value + random.randint(1, 3) if rises else random.randrange(4)
            found.append({"time": time, "node": node, "name": name, "value": float(value)})
    return found


def _moment(random):
    if random.random() < 0.05:
        return WARMUP
    return round(random.uniform(0, DURATION), random.choice([1, 9]))


def _node(random):
    return random.randrange(NODES)


def _publish(random, rows, sequence):
    publisher, time = _node(random), _moment(random)
    about = publisher << 32 | sequence
    event = json.dumps({"coupon": {"zone": random.randrange(3)}})
    said = {"publication": about, "time": time, "publisher": publisher, "size": 512, "event": event}
    rows["publications"].append(said)
    for node in range(NODES):
        if random.random() < 0.4:
            rows["expectations"].append({"publication": about, "node": node})
        for _ in range(random.choices([0, 1, 2, 3], [5, 5, 1, 1])[0]):
            late = time + random.expovariate(5)
            rows["deliveries"].append({"publication": about, "node": node, "time": late})


def _transmission(random):
    to = random.choice([-1, -1, _node(random)])
    return {
        "time": _moment(random),
        "node": _node(random),
        "to": to,
        "category": random.choice(CATEGORIES),
        "kind": random.choice(["Any", "Any", "CommunityBeacon"]),
        "publication": -1,
        "size": random.randrange(20, 600),
        "attempts": 1 if to == -1 else random.randrange(5),
        "failed": to != -1 and random.random() < 0.2,
        "airtime": random.uniform(0, 5e-3),
    }


def _request(random, number):
    time, node = _moment(random), _node(random)
    outcome = random.choice(["satisfied", "satisfied", "expired", "open", "abandoned"])
    met = outcome == "satisfied"
    return {
        "request": node << 32 | number,
        "node": node,
        "time": time,
        "wanted": "/coupon[zone = 1]",
        "outcome": outcome,
        "answered": time + random.expovariate(2) if met else math.nan,
        "publication": number if met else -1,
        "fresh": met and random.random() < 0.5,
    }


def _walk(random, node):
    turns = sorted(random.uniform(0, DURATION) for _ in range(random.randrange(4)))
    places = [(random.uniform(0, 1000), random.uniform(0, 500)) for _ in range(len(turns) + 2)]
    if random.random() < 0.2:
        places = places[:1] * len(places)
    spans = pairwise([0.0, *turns, DURATION])
    return [
        {"node": node, "start": start, "end": end, "x0": x0, "y0": y0, "x1": x1, "y1": y1}
        for (start, end), ((x0, y0), (x1, y1)) in zip(spans, pairwise(places), strict=True)
    ]
