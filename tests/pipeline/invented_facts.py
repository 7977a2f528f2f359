"""Facts of runs that never happened: small, odd, and true to the schemas."""

import json
from itertools import pairwise
from random import Random

import pyarrow as pa

from roamcast.facts.schema import TABLES

CATEGORIES = ["event", "subscription", "routing", "control"]
CAUSES = ["duplicate", "no_route", "collision", "retry_limit", "queue_full", "unwanted"]


def invent(seed: int, publications: int = 30, nodes: int = 8) -> dict[str, pa.Table]:
    """One run's facts; some runs have empty tables, doubled rows, events nobody wanted."""
    random = Random(seed)
    rows: dict[str, list[dict]] = {name: [] for name in TABLES}
    for sequence in range(random.choice([0, 1, publications])):
        publisher = random.randrange(nodes)
        about = publisher << 32 | sequence
        time = round(random.uniform(0, 100), random.choice([1, 9]))
        zone = random.randrange(3)
        event = json.dumps({"coupon": {"zone": zone}})
        rows["publications"].append(
            {"publication": about, "time": time, "publisher": publisher, "size": 512, "event": event}
        )
        for node in range(nodes):
            if random.random() < 0.4:
                rows["expectations"].append({"publication": about, "node": node})
            for _ in range(random.choices([0, 1, 2, 3], [5, 5, 1, 1])[0]):
                late = time + random.expovariate(5)
                rows["deliveries"].append({"publication": about, "node": node, "time": late})
    if random.random() < 0.2:
        rows["deliveries"].append({"publication": 999 << 32, "node": 0, "time": 50.0})
    for _ in range(random.choice([0, 200])):
        to = random.choice([-1, -1, random.randrange(nodes)])
        rows["transmissions"].append(
            {
                "time": random.uniform(0, 100),
                "node": random.randrange(nodes),
                "to": to,
                "category": random.choice(CATEGORIES),
                "kind": "Any",
                "publication": -1,
                "size": random.randrange(20, 600),
                "attempts": 1 if to == -1 else random.randrange(5),
                "failed": to != -1 and random.random() < 0.2,
                "airtime": random.uniform(0, 5e-3),
            }
        )
    for _ in range(random.choice([0, 100])):
        rows["drops"].append(
            {
                "time": random.uniform(0, 100),
                "node": 0,
                "peer": -1,
                "category": "event",
                "kind": "Any",
                "publication": -1,
                "cause": random.choice(CAUSES),
            }
        )
    for _ in range(random.choice([0, 40])):
        wanted = f"/coupon[zone = {random.randrange(3)}]"
        who = random.randrange(nodes)
        rows["interests"].append(
            {"time": random.uniform(0, 100), "node": who, "wanted": wanted, "begins": random.random() < 0.7}
        )
    for node in range(random.choice([0, nodes])):
        turns = sorted(random.uniform(0, 100) for _ in range(random.randrange(4)))
        places = [(random.uniform(0, 1000), random.uniform(0, 500)) for _ in range(len(turns) + 2)]
        if random.random() < 0.2:
            places = places[:1] * len(places)
        for (start, end), ((x0, y0), (x1, y1)) in zip(
            pairwise([0.0, *turns, 100.0]), pairwise(places), strict=True
        ):
            rows["legs"].append(
                {"node": node, "start": start, "end": end, "x0": x0, "y0": y0, "x1": x1, "y1": y1}
            )
    for table in rows.values():
        random.shuffle(table)
    return {name: pa.Table.from_pylist(rows[name], schema) for name, schema in TABLES.items()}
