"""Draw random worlds: the same seed gives the same scenario, and every scenario is valid."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from random import Random
from typing import Any

from roamcast.advisor.drawing.ranges import CHOICES, RANGES, Range
from roamcast.advisor.drawing.toml_text import write_toml
from roamcast.scenario.model import Scenario
from roamcast.scenario.read import load

WARMUP, QUIET = 30, 10
"Time without metrics at the start, and without new publications at the end of short runs [s]."

LONG = 1_000_000
"Worlds from this number on have long runs with a longer quiet time; those below have short ones."

_HEADER = 80
"Approximate size of the headers of a frame and its preamble, for the load [B]."

_LONGEST_GAP = 20.0
"Maximum interval between the bursts of a publisher [s], so that each publishes several times."

LEVELS = 20
"Number of levels that range filters divide."


def draw_world(seed: int) -> Scenario:
    """Return the random world of `seed`."""
    return load(Path(f"world-{seed}.toml"), text=draw_text(seed))


def draw_text(seed: int) -> str:
    """Return the scenario file of the random world of `seed`."""
    return f"# A random world: roamcast worlds draw --seed {seed}\n{write_toml(_draw(seed))}"


def digest_world(seed: int) -> str:
    """Return a digest of the random world of `seed`; it changes if the ranges do."""
    return hashlib.blake2b(draw_text(seed).encode(), digest_size=8).hexdigest()


def _draw(seed: int) -> dict[str, Any]:
    random = Random(f"{seed}/world")
    nodes = RANGES["nodes"].draw_count(random)
    degree = RANGES["degree"].draw(random, nodes)
    reach = RANGES["range"].draw(random)
    sensed = _digits(reach * RANGES["carrier_sense"].draw(random))
    surface = nodes * math.pi * reach**2 / degree
    width = _digits(math.sqrt(surface * RANGES["aspect"].draw(random)))
    height = _digits(surface / width)
    long = "long_" if seed >= LONG else ""
    duration = round(RANGES[f"{long}duration"].draw(random))
    quiet = round(RANGES["long_quiet"].draw(random)) if long else QUIET
    basic, data = CHOICES["rates"].draw(random).split(", ")
    world: dict[str, Any] = {
        "name": f"world-{seed}",
        "area": {"width": f"{width:g} m", "height": f"{height:g} m"},
        "duration": f"{duration} s",
        "warmup": f"{WARMUP} s",
        "quiet": f"{quiet} s",
        "location": CHOICES["location"].draw(random) == "yes",
        "sample": f"{duration} s",
    }
    world |= _draw_nodes(random, nodes, width, height)
    world["radio"] = {
        "range": f"{reach:g} m",
        "carrier_sense": f"{sensed:g} m",
        "propagation": CHOICES["propagation"].draw(random),
    }
    world["mac"] = {"rate": f"{data} Mb/s", "basic_rate": f"{basic} Mb/s"}
    crowd = min(nodes, degree * (sensed / reach) ** 2)
    content, subscribing, zones = _draw_content(random, width * height)
    subscribing["count"] = max(3, round(RANGES["subscribers"].draw(random) * nodes))
    world["workload"] = zones | {
        "publish": _draw_publishers(
            random, world["nodes"], float(basic) * 1e6 / crowd, content, RANGES[f"{long}rate"]
        ),
        "subscribe": {"*": subscribing},
    }
    return world | _draw_faults(random, world["nodes"], duration)


def _draw_nodes(random: Random, nodes: int, width: float, height: float) -> dict[str, Any]:
    kind = CHOICES["mobility"].draw(random)
    speed, pause = RANGES["speed"].draw(random), RANGES["pause"].draw(random)
    walking = {
        "mobility": "waypoint",
        "speed": {"min": f"{_digits(speed / 10):g} m/s", "max": f"{speed:g} m/s"},
        "pause": f"{pause:g} s",
    }
    if kind == "static":
        return {"nodes": {"posts": {"count": nodes}}}
    if kind == "waypoint":
        return {"nodes": {"walkers": {"count": nodes, **walking}}}
    apart = min(max(round(RANGES["static_share"].draw(random) * nodes), 1), nodes - 1)
    if kind == "mixed":
        return {"nodes": {"posts": {"count": apart}, "walkers": {"count": nodes - apart, **walking}}}
    hubs = RANGES["hubs"].draw_count(random)
    covered = RANGES["hub_share"].draw(random)
    side = _digits(min(math.sqrt(covered * width * height / hubs), width / 2, height / 2))
    inside = {"count": nodes - apart, "home": "hubs", **walking}
    return {
        "hubs": {"count": hubs, "side": f"{side:g} m"},
        "nodes": {"crowd": inside, "walkers": {"count": apart, **walking}},
    }


def _draw_publishers(
    random: Random, groups: dict[str, Any], capacity: float, content: Any, limits: Range
) -> dict[str, Any]:
    """Return the publishers.

    `capacity` is the broadcast rate that a node has if all in carrier-sense range share the channel equally
    [b/s]; `limits` are those of the rate of all publications [/s].
    """
    size = round(RANGES["size"].draw(random))
    load = RANGES["load"].draw(random) * capacity / (8 * (size + _HEADER))
    rate = min(max(load, limits.low), limits.high)
    group = random.choice(sorted(groups))
    count = RANGES["publishers"].draw_count(random, groups[group]["count"])
    burst = RANGES["burst"].draw_count(random) if CHOICES["burst"].draw(random) == "burst" else 1
    burst = min(burst, max(1, math.floor(_LONGEST_GAP * rate / count)))
    every = min(_digits(count * burst / rate), _LONGEST_GAP)
    settings: dict[str, Any] = {
        "count": count,
        "every": f"{every:g} s",
        "gaps": CHOICES["gaps"].draw(random),
        "size": f"{size} B",
        "content": content,
    }
    return {group: settings | ({"burst": burst} if burst > 1 else {})}


def _draw_content(random: Random, surface: float) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the content of events, the settings of subscribers, and the zones of the workload.

    `surface` is the size of the area [m2].
    """
    kind = CHOICES["content"].draw(random)
    common = CHOICES["locality"].draw(random) == "common"
    shared: dict[str, Any] = {"locality": RANGES["locality"].draw(random)} if common else {}
    if kind == "zones":
        side = _digits(math.sqrt(surface / RANGES["zones"].draw(random)))
        settings = {
            "interest": "zone",
            "tick": f"{RANGES['tick'].draw(random):g} s",
            "bias": RANGES["bias"].draw(random),
        }
        return "random-zone", settings | shared, {"zones": {"side": f"{side:g} m", "type": "notice"}}
    if kind == "topics":
        topics = RANGES["topics"].draw_count(random)
        interest = [f"/notice[topic = {number}]" for number in range(1, topics + 1)]
        chosen = RANGES["topics_chosen"].draw_count(random, topics)
        values = {"topic": list(range(1, topics + 1))}
    else:
        interest = [_draw_filter(random) for _ in range(RANGES["filters"].draw_count(random))]
        chosen = 1
        values = {"level": list(range(LEVELS))}
    if common:
        shared["common"] = random.choice(interest)
    return {"type": "notice", "values": values}, {"interest": interest, "choose": chosen, **shared}, {}


def _draw_filter(random: Random) -> str:
    """Return a filter on a range of levels."""
    width = max(1, round(LEVELS * RANGES["selectivity"].draw(random)))
    first = random.randint(0, LEVELS - width)
    return f"/notice[level >= {first} and level < {first + width}]"


def _draw_faults(random: Random, groups: dict[str, Any], duration: int) -> dict[str, Any]:
    kind = CHOICES["faults"].draw(random)
    if kind == "none":
        return {}
    group = random.choice(sorted(groups))
    struck = max(1, round(RANGES["faulty"].draw(random) * groups[group]["count"]))
    faults: dict[str, Any] = {"group": group, "count": struck}
    if kind == "churn":
        faults["arrive"] = {"min": "0 s", "max": f"{duration // 2} s"}
        faults["leave"] = {"min": f"{duration // 2} s", "max": f"{duration} s"}
        return {"faults": {"churn": faults}}
    outages = {
        "every": f"{RANGES['fault_every'].draw(random):g} s",
        "down": f"{RANGES['fault_down'].draw(random):g} s",
    }
    faults[kind] = outages | ({"memory": CHOICES["memory"].draw(random)} if kind == "crash" else {})
    return {"faults": {"outages": faults}}


def _digits(number: float) -> float:
    """Return a number rounded to four digits."""
    return float(f"{number:.4g}")
