"""Injection of faults into a run; each is recorded as a fact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from roamcast.routing.faults import Fault, FaultKind, absent_nodes
from roamcast.routing.router import NodeId
from roamcast.sim.node import Node

if TYPE_CHECKING:
    from roamcast.sim.world import World


def inject_faults(world: World, faults: list[Fault]) -> None:
    """Schedule all `faults` in a world that has not started yet."""
    for node in sorted(absent_nodes(faults)):
        world.nodes[node].mark_absent()
        world.kernel.state(node, "up", 0)
    for fault in faults:
        if fault.time < math.inf:
            world.call_at(fault.time, _inject_fault, world, fault.node, fault.kind)


def _inject_fault(world: World, number: NodeId, what: FaultKind) -> None:
    """Inject a fault into a node; a fault that does not change its state has no effect."""
    node = world.nodes[number]
    before = _condition(node)
    if what is FaultKind.CRASH and node.up:
        node.crash()
    elif what in (FaultKind.START, FaultKind.ARRIVE) and not node.up:
        node.start(first=what is FaultKind.ARRIVE)
    elif what is FaultKind.SLEEP and node.works:
        node.sleep()
    elif what is FaultKind.WAKE and node.asleep:
        node.wake()
    elif what in (FaultKind.RADIO_OFF, FaultKind.RADIO_ON):
        node.set_radio(what is FaultKind.RADIO_ON)
    for name, value in _condition(node).items():
        if value != before[name]:
            world.kernel.state(number, name, value)


def _condition(node: Node) -> dict[str, float]:
    return {"up": node.works, "radio": node.radio, "incarnation": node.incarnation}
