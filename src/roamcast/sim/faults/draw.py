"""The fault schedule of a run, derived from the seed and the same for every protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from roamcast.routing.faults import Fault, FaultKind, Outage, draw_outages, faults_of
from roamcast.routing.router import NodeId
from roamcast.scenario.faults import FaultSettings, OutageSettings
from roamcast.scenario.model import Scenario
from roamcast.sim.workload import choose


def draw_faults(scenario: Scenario, seed: int) -> list[Fault]:
    """Return all faults of a run in order; they depend only on the scenario and the seed."""
    outages: dict[NodeId, dict[FaultKind, list[Outage]]] = {}
    for name, faults in scenario.faults.items():
        for node in _affected_nodes(scenario, name, faults, seed):
            for what, outage in _outages(scenario, faults, Random(f"{seed}/faults/{name}/{node}")):
                outages.setdefault(node, {}).setdefault(what, []).append(outage)
    drawn = [fault for node, own in outages.items() for fault in faults_of(node, own)]
    return sorted(drawn, key=lambda fault: (fault.time, fault.node, fault.kind.value))


def _affected_nodes(scenario: Scenario, name: str, faults: FaultSettings, seed: int) -> list[NodeId]:
    if faults.group is None:
        return sorted(set(faults.nodes))
    return choose(scenario.nodes_of(faults.group), faults.count, Random(f"{seed}/struck/{name}"))


def _outages(scenario: Scenario, faults: FaultSettings, random: Random) -> Iterator[tuple[FaultKind, Outage]]:
    if faults.arrive is not None:
        yield FaultKind.CRASH, Outage(0.0, random.uniform(*faults.arrive))
    if faults.leave is not None:
        yield FaultKind.CRASH, Outage(random.uniform(*faults.leave), math.inf)
    if faults.crash is not None:
        what = FaultKind.CRASH if faults.crash.memory == "lost" else FaultKind.SLEEP
        yield from ((what, outage) for outage in _drawn(scenario, faults.crash, random))
    if faults.radio is not None:
        yield from ((FaultKind.RADIO_OFF, outage) for outage in _drawn(scenario, faults.radio, random))


def _drawn(scenario: Scenario, outages: OutageSettings, random: Random) -> Iterator[Outage]:
    down = math.inf if outages.down is None else outages.down
    yield from (Outage(start, start + down) for start in outages.at)
    if outages.every is not None:
        until = scenario.duration if outages.until is None else outages.until
        even = outages.gaps == "even"
        yield from draw_outages(random, outages.every, down, after=outages.after, until=until, even=even)
