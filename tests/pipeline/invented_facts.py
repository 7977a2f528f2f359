"""Facts of runs that never happened: small, odd, and true to the schemas."""

import json
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
    for sample in range(random.choice([0, 12])):
        for node in range(nodes):
            place = {"x": random.uniform(0, 1000), "y": random.uniform(0, 500)}
            rows["positions"].append({"time": sample * 10.0, "node": node} | place)
    for table in rows.values():
        random.shuffle(table)
    return {name: pa.Table.from_pylist(rows[name], schema) for name, schema in TABLES.items()}
