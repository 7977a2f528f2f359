"""Faults as they happen: each befalls its node when it is due, and is a fact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from roamcast.routing.faults import Fault, What, absent
from roamcast.routing.router import NodeId
from roamcast.sim.node import Node

if TYPE_CHECKING:
    from roamcast.sim.world import World


def play_faults(world: World, faults: list[Fault]) -> None:
    """Have all `faults` happen in a world that has not begun yet."""
    for node in sorted(absent(faults)):
        world.nodes[node].be_absent()
        world.kernel.state(node, "up", 0)
    for fault in faults:
        if fault.time < math.inf:
            world.call_at(fault.time, _befall, world, fault.node, fault.what)


def _befall(world: World, number: NodeId, what: What) -> None:
    """Have something befall a node; what it is already changes nothing."""
    node = world.nodes[number]
    before = _condition(node)
    if what is What.CRASH and node.up:
        node.crash()
    elif what in (What.START, What.ARRIVE) and not node.up:
        node.start(first=what is What.ARRIVE)
    elif what is What.SLEEP and node.works:
        node.sleep()
    elif what is What.WAKE and node.asleep:
        node.wake()
    elif what in (What.RADIO_OFF, What.RADIO_ON):
        node.set_radio(what is What.RADIO_ON)
    for name, value in _condition(node).items():
        if value != before[name]:
            world.kernel.state(number, name, value)


def _condition(node: Node) -> dict[str, float]:
    return {"up": node.works, "radio": node.radio, "incarnation": node.incarnation}
