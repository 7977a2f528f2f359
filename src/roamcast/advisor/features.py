"""The features of a scenario from which the advisor predicts, each declared once with unit and meaning."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from roamcast.advisor.snapshots import LATER, SEEDS, SOON, WorldSnapshot, take_snapshots
from roamcast.errors import UserError
from roamcast.routing.faults import OUTAGES, FaultKind
from roamcast.scenario.model import Scenario
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.workload import plan

MOST_NODES = 5_000
"Maximum number of nodes of a scenario for which the advisor takes snapshots."

_FRAME = 80
"Headers and preamble of a frame, in bytes at the basic rate."

_HANDSHAKE = 1.0e-3
"RTS, CTS, ACK and interframe spaces of a unicast frame at 1 Mb/s [s]."


class Feature(NamedTuple):
    """The declaration of a feature."""

    unit: str
    meaning: str


FEATURES: dict[str, Feature] = {
    "nodes": Feature("", "number of nodes"),
    "extent": Feature("", "diagonal of the area divided by the radio range"),
    "degree": Feature("", "nodes in range of a node, mean"),
    "degree_low": Feature("", "nodes in range of a node, 10th percentile"),
    "crowd": Feature("", "nodes within the carrier-sense range of a node, mean"),
    "largest": Feature("", "share of the nodes in the largest connected component"),
    "reachable": Feature("", "share of the expected deliveries to which a path exists at that moment"),
    "hops": Feature("", "hops from the publisher to an expecting node, mean over those with a path"),
    "hops_high": Feature("", "90th percentile of these hops"),
    "kept_soon": Feature("", f"share of the links that still exist {SOON:g} s later"),
    "kept_later": Feature("", f"share of the links that still exist {LATER:g} s later, half a lease"),
    "speed": Feature("1/s", "speed of the nodes, mean, divided by the radio range"),
    "rate": Feature("/s", "published events per second"),
    "burst": Feature("", "events that a publisher sends at once, mean over events"),
    "size": Feature("B", "size of an event, mean"),
    "publishers": Feature("", "number of publishers"),
    "flooding_load": Feature("", "share of the channel's time that flooding of all events needs"),
    "unicast_load": Feature("", "share of the channel's time that unicast copies of all events need"),
    "burst_load": Feature("s", "airtime that flooding of one burst needs"),
    "subscribers": Feature("", "share of the nodes that subscribe"),
    "audience": Feature("", "nodes that expect an event, mean"),
    "selectivity": Feature("", "share of the subscribers that expect an event, mean"),
    "unwanted": Feature("", "share of the events that no node expects"),
    "filters": Feature("", "different filters per subscriber; low if subscriptions overlap"),
    "changed": Feature("", f"share of the subscribers whose interest differs {LATER:g} s later"),
    "down": Feature("", "share of the nodes that do not work or whose radio is off, mean"),
    "faults": Feature("/min", "outages per node and minute"),
    "forgetting": Feature("/min", "of these, crashes and arrivals with an empty memory"),
    "basic_rate": Feature("Mb/s", "bit rate of broadcasts"),
    "data_rate": Feature("Mb/s", "bit rate of unicast frames"),
    "sensing": Feature("", "carrier-sense range divided by the radio range"),
    "free_space": Feature("", "1 with Friis propagation, 0 with two-ray ground"),
    "location": Feature("", "1 if routers may use positions, otherwise 0"),
}
"All features by name, in the order of vectors."


class NotAdvisable(UserError):
    """A scenario for which the advisor has no model."""


def describe(scenario: Scenario) -> dict[str, float]:
    """Return the features of a scenario by name; equal scenarios give equal features."""
    if scenario.count > MOST_NODES:
        raise NotAdvisable(f"{scenario.name}: {scenario.count} nodes; the advisor takes at most {MOST_NODES}")
    if not scenario.workload.subscribe:
        raise NotAdvisable(f"{scenario.name}: has no subscriptions; the advisor predicts deliveries only")
    found = list(take_snapshots(scenario))
    if not any(len(snapshot.audiences) for snapshot in found):
        raise NotAdvisable(f"{scenario.name}: publishes nothing; the advisor predicts deliveries of events")
    values = _of_space(scenario, found) | _of_workload(scenario, found) | _of_faults(scenario, found)
    values |= {
        "basic_rate": scenario.mac.basic_rate / 1e6,
        "data_rate": scenario.mac.rate / 1e6,
        "sensing": scenario.radio.carrier_sense / scenario.radio.range,
        "free_space": float(scenario.radio.propagation == "friis"),
        "location": float(scenario.location),
    }
    values |= _of_channel(scenario, values)
    return {name: float(values[name]) for name in FEATURES}


def _of_space(scenario: Scenario, found: list[WorldSnapshot]) -> dict[str, float]:
    """Return the features of positions, links and paths."""
    degrees = np.concatenate([snapshot.degrees for snapshot in found])
    hops = np.concatenate([snapshot.hops for snapshot in found])
    joined = hops[np.isfinite(hops)]
    mean = {
        name: float(np.mean([getattr(snapshot, name) for snapshot in found]))
        for name in ("crowd", "largest", "kept_soon", "kept_later", "speed")
    }
    return mean | {
        "nodes": scenario.count,
        "extent": math.hypot(scenario.area.width, scenario.area.height) / scenario.radio.range,
        "degree": float(degrees.mean()),
        "degree_low": float(np.percentile(degrees, 10)),
        "speed": mean["speed"] / scenario.radio.range,
        "reachable": len(joined) / len(hops) if len(hops) else 1.0,
        "hops": float(joined.mean()) if len(joined) else 0.0,
        "hops_high": float(np.percentile(joined, 90)) if len(joined) else 0.0,
    }


def _of_workload(scenario: Scenario, found: list[WorldSnapshot]) -> dict[str, float]:
    """Return the features of publications and subscriptions."""
    publications = plan(scenario, SEEDS[0]).publications
    counted = [each for each in publications if each.time >= scenario.warmup] or publications
    bursts = Counter((each.publisher, round(each.time, 2)) for each in counted)
    audiences = np.concatenate([snapshot.audiences for snapshot in found])
    subscribers = float(np.mean([snapshot.subscribers for snapshot in found]))
    lasting = scenario.duration - scenario.quiet - scenario.warmup
    return {
        "rate": len(counted) / max(lasting, 1e-9),
        "burst": sum(count**2 for count in bursts.values()) / len(counted),
        "size": float(np.mean([each.size for each in counted])),
        "publishers": len({each.publisher for each in counted}),
        "subscribers": subscribers / scenario.count,
        "audience": float(audiences.mean()),
        "selectivity": float(audiences.mean()) / max(subscribers, 1.0),
        "unwanted": float((audiences == 0).mean()),
        "filters": float(np.mean([snapshot.filters for snapshot in found])),
        "changed": float(np.mean([snapshot.changed for snapshot in found])),
    }


def _of_faults(scenario: Scenario, found: list[WorldSnapshot]) -> dict[str, float]:
    """Return the features of faults."""
    faults = [fault for seed in SEEDS for fault in draw_faults(scenario, seed)]
    faults = [fault for fault in faults if fault.time < scenario.duration]
    minutes = len(SEEDS) * scenario.count * scenario.duration / 60
    begun = sum(fault.kind in OUTAGES or fault.kind is FaultKind.ARRIVE for fault in faults)
    empty = sum(fault.kind in (FaultKind.CRASH, FaultKind.ARRIVE) for fault in faults)
    down = float(np.mean([snapshot.down for snapshot in found]))
    return {"down": down, "faults": begun / minutes, "forgetting": empty / minutes}


def _of_channel(scenario: Scenario, known: dict[str, float]) -> dict[str, float]:
    """Return the loads of the channel, from the other features."""
    bits = 8 * (known["size"] + _FRAME)
    flooded = bits / scenario.mac.basic_rate * known["crowd"]
    unicast = bits / scenario.mac.rate + _HANDSHAKE * 1e6 / scenario.mac.basic_rate
    shared = max(scenario.count / known["crowd"], 1.0)
    copies = known["rate"] * known["audience"] * known["reachable"] * known["hops"]
    return {
        "flooding_load": known["rate"] * flooded,
        "burst_load": known["burst"] * flooded,
        "unicast_load": copies * unicast / shared,
    }
