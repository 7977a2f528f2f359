"""The schedule of each node: the same publications, subscriptions and faults as in a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field

from roamcast.content.filter import Filter
from roamcast.facts.tracks import Tracks
from roamcast.routing.faults import FaultKind, absent_nodes
from roamcast.routing.router import NodeId, Position
from roamcast.scenario.model import Scenario
from roamcast.sim.faults.draw import draw_faults
from roamcast.sim.interest import Interest, subscribers
from roamcast.sim.workload import PlannedPublication, plan
from roamcast.testbed.errors import TestbedError

_LIFE = (FaultKind.ARRIVE, FaultKind.CRASH, FaultKind.START)


@dataclass
class InterestChange:
    """A node begins or ends a subscription at a time [s]."""

    time: float
    filter: Filter
    begins: bool


@dataclass
class NodeSchedule:
    """What one node does, in order of time."""

    node: NodeId
    advertised: list[Filter] = field(default_factory=list)
    publications: list[PlannedPublication] = field(default_factory=list)
    interests: list[InterestChange] = field(default_factory=list)
    lives: list[tuple[float, float]] = field(default_factory=list)
    "When the process starts and when it is killed [s]; a life after the first has lost its memory."

    def subscribed_at(self, time: float) -> list[Filter]:
        """Return the subscriptions that hold just before `time` [s]."""
        held: list[Filter] = []
        for change in self.interests:
            if change.time < time:
                held.append(change.filter) if change.begins else held.remove(change.filter)
        return held


def schedules(scenario: Scenario, seed: int, tracks: Tracks) -> list[NodeSchedule]:
    """Return the schedule of every node, in order."""
    if scenario.workload.request:
        raise TestbedError(f"scenario {scenario.name} has requests, which the testbed does not run yet")
    found = [NodeSchedule(node) for node in range(scenario.count)]
    planned = plan(scenario, seed)
    for advertisement in planned.advertisements:
        found[advertisement.node].advertised.append(advertisement.filter)
    for publication in planned.publications:
        found[publication.publisher].publications.append(publication)
    for interest in subscribers(scenario, seed):
        found[interest.node].interests = _changes(interest, tracks, scenario.duration)
    _add_faults(scenario, seed, found)
    return found


def _changes(interest: Interest, tracks: Tracks, duration: float) -> list[InterestChange]:
    """Return the changes of a subscriber's interests, which may follow its position."""
    changes: list[InterestChange] = []
    held: tuple[Filter, ...] = ()
    look: int | None = 0
    while look is not None and (time := interest.time_of(look)) < duration:
        position = Position(*map(float, tracks.position(interest.node, time)))
        filters = interest.filters_at(position, look)
        changes += [InterestChange(time, each, False) for each in held if each not in filters]
        changes += [InterestChange(time, each, True) for each in filters if each not in held]
        held = filters
        look = interest.next_poll(position, look)
    return changes


def _add_faults(scenario: Scenario, seed: int, found: list[NodeSchedule]) -> None:
    """Set the lives of all nodes from the crashes, arrivals and departures of the scenario."""
    faults = draw_faults(scenario, seed)
    if any(fault.kind not in _LIFE for fault in faults):
        raise TestbedError(
            f"scenario {scenario.name} has faults that switch radios or suspend nodes;"
            " the testbed runs crashes, arrivals and departures"
        )
    absent = absent_nodes(faults)
    for own in found:
        since = None if own.node in absent else 0.0
        lives: list[tuple[float, float]] = []
        for fault in (fault for fault in faults if fault.node == own.node):
            if fault.kind is not FaultKind.CRASH:
                since = fault.time if since is None else since
            elif since is not None:
                lives.append((since, fault.time))
                since = None
        if since is not None:
            lives.append((since, scenario.duration))
        own.lives = [
            (start, min(end, scenario.duration)) for start, end in lives if start < scenario.duration
        ]
