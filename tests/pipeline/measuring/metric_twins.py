"""The metrics again, slowly and plainly; what `measure` must equal."""

import math
from fractions import Fraction
from itertools import pairwise

from invented_facts import NODES

from roamcast.facts.contacts import EDGE
from roamcast.metrics.declarations import METRICS


def average(values):
    return float(sum(map(Fraction, values)) / len(values)) if values else None


def percentile(values, share):
    values, place = sorted(values), share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def measure_pairs(facts, warmup):
    born = {p["publication"]: p["time"] for p in facts["publications"] if p["time"] >= warmup}
    expected = {(e["publication"], e["node"]) for e in facts["expectations"] if e["publication"] in born}
    copies = {}
    for row in facts["deliveries"]:
        if row["publication"] in born:
            copies.setdefault((row["publication"], row["node"]), []).append(row["time"])
    delays = [min(times) - born[pair[0]] for pair, times in copies.items() if pair in expected]
    hits = [min(times) for pair, times in copies.items() if pair in expected]
    lasting = max(hits) - min(born.values()) if hits else 0.0
    shares = []
    for publication in born:
        wanted = [pair for pair in expected if pair[0] == publication]
        if wanted:
            shares.append(sum(pair in copies for pair in wanted) / len(wanted))
    return {
        "publications": len(born),
        "expected": len(expected),
        "delivered": len(delays),
        "delivery_rate": len(delays) / len(expected) if expected else None,
        "delivery_rate_mean": average(shares),
        "false_deliveries": len(copies.keys() - expected),
        "duplicate_deliveries": sum(len(times) - 1 for times in copies.values()),
        "delay_mean": average(delays),
        "delay_p50": percentile(delays, 0.5) if delays else None,
        "delay_p90": percentile(delays, 0.9) if delays else None,
        "delay_p95": percentile(delays, 0.95) if delays else None,
        "delay_p99": percentile(delays, 0.99) if delays else None,
        "delay_max": max(delays, default=None),
        "throughput": len(delays) / lasting if lasting else None,
    }


def measure_requests(facts, warmup):
    made = [r for r in facts["requests"] if r["time"] >= warmup]
    met = [r for r in made if r["outcome"] == "satisfied"]
    return {
        "requests": len(made),
        "satisfied_rate": len(met) / len(made) if made else None,
        "response_delay": average([r["answered"] - r["time"] for r in met]),
        "fresh_rate": average([int(r["fresh"]) for r in met]),
        "hit_rate": average([int(not r["fresh"]) for r in met]),
        "response_delay_p50": percentile([r["answered"] - r["time"] for r in met], 0.5) if met else None,
        "response_delay_p95": percentile([r["answered"] - r["time"] for r in met], 0.95) if met else None,
    }


def measure_overhead(facts, warmup, requests, answered, gamma=10.0):
    spent = [t for t in facts["transmissions"] if t["time"] >= warmup and t["kind"] != "CommunityBeacon"]
    events = sum(t["category"] == "event" for t in facts["transmissions"] if t["time"] >= warmup)
    return {
        "overhead": len(spent),
        "overhead_weighted": len(spent) + (gamma - 1) * events,
        "overhead_per_request": len(spent) / requests if requests else None,
        "overhead_per_answer": len(spent) / answered if answered else None,
        "overhead_weighted_per_answer": (len(spent) + (gamma - 1) * events) / answered if answered else None,
    }


def measure_communities(facts, warmup):
    result = sorted((s["time"], s["node"], s["value"]) for s in facts["states"] if s["name"] == "community")
    moments = [index for index, row in enumerate(result) if row[0] >= warmup]
    before = min(moments, default=len(result))
    counts, times = [], [warmup] * bool(before) + [result[index][0] for index in moments]
    for end in ([before] if before else []) + [index + 1 for index in moments]:
        latest = {node: value for _, node, value in result[:end]}
        members = list(latest.values())
        counts.append((len(set(members)), sum(members.count(each) < 3 for each in set(members))))
    stood = [after - now for now, after in pairwise(times)]
    if not sum(stood):
        return dict(zip(("communities", "orphans"), counts[-1] if counts else (None, None), strict=True))
    return {
        name: sum(each[column] * time for each, time in zip(counts, stood, strict=False)) / sum(stood)
        for column, name in enumerate(("communities", "orphans"))
    }


def measure_tables(facts, warmup):
    found = {}
    for unit in ("entries", "bytes"):
        held = {}
        for row in facts["tables"]:
            if row["time"] >= warmup:
                sample = row["time"], row["node"]
                held[sample] = held.get(sample, 0) + row[unit]
        found[f"table_{unit}"] = average(list(held.values()))
        found[f"table_{unit}_max"] = max(held.values(), default=None)
    return found


def measure_sent(facts, warmup, gamma=10.0):
    sent = [t for t in facts["transmissions"] if t["time"] >= warmup]
    lost = [d["cause"] for d in facts["drops"] if d["time"] >= warmup]
    found = {
        f"messages_{c}": sum(t["category"] == c for t in sent)
        for c in ("event", "subscription", "routing", "control")
    }
    return found | {
        "messages": len(sent),
        "messages_failed": sum(t["failed"] for t in sent),
        "frames": sum(t["attempts"] for t in sent),
        "frames_link": sum(
            t["attempts"] if t["to"] == -1 else 3 * t["attempts"] + (not t["failed"]) for t in sent
        ),
        "bytes": sum(t["attempts"] * t["size"] for t in sent),
        "bytes_event": sum(t["attempts"] * t["size"] for t in sent if t["category"] == "event"),
        "bytes_control": sum(t["attempts"] * t["size"] for t in sent if t["category"] != "event"),
        "airtime": sum(math.floor(t["airtime"] * 1e9 + 0.5) for t in sent) / 1e9,
        "messages_weighted": len(sent) + (gamma - 1) * found["messages_event"],
        "drops": len(lost),
        "drops_link": sum(cause in ("collision", "retry_limit", "queue_full") for cause in lost),
    }


def measure_states(facts, warmup, nodes):
    values = {}
    for row in sorted(facts["states"], key=lambda row: (row["time"], row["value"])):
        values.setdefault(row["name"], {}).setdefault(row["node"], []).append((row["time"], row["value"]))

    def highest(name):
        """Walk through time: what holds at the warm-up, and what is told after it."""
        found = []
        for rows in values.get(name, {}).values():
            standing = [value for time, value in rows if time <= warmup][-1:]
            at_warmup = [value for time, value in rows if time == warmup]
            found.append(max([*standing, *at_warmup, *(value for time, value in rows if time > warmup)]))
        return found

    def rise(name):
        total = 0
        for rows in values.get(name, {}).values():
            held = 0
            for time, value in rows:
                total += (value - held if value >= held else value) if time >= warmup else 0
                held = value
        return total

    return {
        "channels": average([value for value in highest("channels") if value > 0]),
        "forwarding_groups": sum(highest("forwarding_groups")) / nodes,
        "noise": rise("noise"),
        "false_joins": rise("false_joins"),
    }


def measure_neighbours(facts, warmup, reach):
    """Joined time of all pairs, by the chord that a straight way cuts from the circle of the range."""
    walked = sum(max(leg["end"] - max(leg["start"], warmup), 0.0) for leg in facts["legs"])
    joined = sum(end - start for _, _, start, end in find_contacts(facts, warmup, reach))
    return joined / walked if walked else None


def find_contacts(facts, since, reach):
    """Yield both nodes, start and end of the time that two legs are within reach of each other."""
    for one in facts["legs"]:
        for other in facts["legs"]:
            start = max(one["start"], other["start"], since)
            end = min(one["end"], other["end"])
            if one["node"] == other["node"] or start >= end:
                continue
            (ax, ay, avx, avy), (bx, by, bvx, bvy) = at(one, start), at(other, start)
            x, y, vx, vy = ax - bx, ay - by, avx - bvx, avy - bvy
            speed = math.hypot(vx, vy)
            if speed == 0:
                first, last = (0.0, end - start) if math.hypot(x, y) <= reach else (1.0, 0.0)
            else:
                nearest = -(x * vx + y * vy) / speed**2
                missed = abs(x * vy - y * vx) / speed
                half = math.sqrt(reach**2 - missed**2) / speed if missed <= reach else -1.0
                first, last = max(nearest - half, 0.0), min(nearest + half, end - start)
                first, last = (first, last) if half >= 0 else (1.0, 0.0)
            if first <= last:
                yield one["node"], other["node"], start + first, start + last


def measure_reachable(facts, warmup, reach):
    """Expected pairs to which information spreads, contact by contact, until nothing changes."""
    if not facts["legs"]:
        return None
    born = {p["publication"]: p["time"] for p in facts["publications"] if p["time"] >= warmup}
    expected = {(e["publication"], e["node"]) for e in facts["expectations"] if e["publication"] in born}
    contacts = list(find_contacts(facts, 0.0, reach + EDGE))
    found = 0
    for publication, time in born.items():
        known = {publication >> 32: time}
        changed = True
        while changed:
            changed = False
            for a, b, start, end in contacts:
                when = max(known.get(a, math.inf), start)
                if when <= end and when < known.get(b, math.inf):
                    known[b], changed = when, True
        found += sum(node in known for of, node in expected if of == publication)
    return found


def at(leg, time):
    vx, vy = ((leg[f"{c}1"] - leg[f"{c}0"]) / (leg["end"] - leg["start"]) for c in "xy")
    passed = time - leg["start"]
    return leg["x0"] + vx * passed, leg["y0"] + vy * passed, vx, vy


def measure_energy(facts, warmup, neighbours, header):
    if neighbours is None:
        return None
    total = 0.0
    for t in facts["transmissions"]:
        if t["time"] >= warmup:
            size = t["size"] + header
            if t["to"] == -1:
                one = 1.9 * size + 250 + neighbours * (0.50 * size + 56)
            else:
                discarded = max(neighbours - 1, 0) * max(0.0, -0.49 * size + 97.2)
                one = 1.9 * size + 420 + 0.42 * size + 330 + discarded
            total += t["attempts"] * one / 1e6
    return total


def measure(facts, warmup, reach, header):
    rows = {name: table.to_pylist() for name, table in facts.items()}
    found = measure_pairs(rows, warmup) | measure_requests(rows, warmup) | measure_sent(rows, warmup)
    found |= measure_tables(rows, warmup) | measure_states(rows, warmup, NODES)
    answered = sum(r["time"] >= warmup and r["outcome"] == "satisfied" for r in rows["requests"])
    found |= measure_communities(rows, warmup) | measure_overhead(rows, warmup, found["requests"], answered)
    found["reachable"] = able = measure_reachable(rows, warmup, reach)
    found["delivery_rate_reachable"] = found["delivered"] / able if able else None
    found["neighbours"] = measure_neighbours(rows, warmup, reach)
    found["energy"] = measure_energy(rows, warmup, found["neighbours"], header)
    for name, unit in (("messages_per_event", "publications"), ("messages_per_delivery", "delivered")):
        found[name] = found["messages"] / found[unit] if found[unit] else None
    for cost in ("airtime", "energy"):
        known = found[cost] is not None and found["delivered"]
        found[f"{cost}_per_delivery"] = found[cost] / found["delivered"] if known else None
    assert found.keys() == METRICS.keys()
    return found
