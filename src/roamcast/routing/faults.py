"""Faults as data: a list of (time, node, kind), derived before the run and equal for all protocols.

The simulator and `roamcast.testing.Mesh` apply the same list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple

from roamcast.routing.router import NodeId


class FaultKind(Enum):
    """The kind of a fault."""

    ARRIVE = "arrive"
    "The node starts for the first time; it was absent until then."
    CRASH = "crash"
    "The node stops and loses its router, its timers and its queue."
    START = "start"
    "The node restarts with an empty memory, in its next incarnation."
    SLEEP = "sleep"
    """The node stops with its memory intact and its radio off; timers that expire meanwhile fire when it
    wakes."""
    WAKE = "wake"
    RADIO_OFF = "radio_off"
    "The node works, but neither receives nor sends."
    RADIO_ON = "radio_on"


class Fault(NamedTuple):
    """One fault: time [s], node and kind."""

    time: float
    node: NodeId
    kind: FaultKind


class Outage(NamedTuple):
    """An interval [s] in which a node, or its radio, does not work; `end` is infinite if it never
    recovers."""

    start: float
    end: float


OUTAGES = {
    FaultKind.CRASH: FaultKind.START,
    FaultKind.SLEEP: FaultKind.WAKE,
    FaultKind.RADIO_OFF: FaultKind.RADIO_ON,
}
"The fault kind that begins an outage -> the kind that ends it."


def draw_outages(
    random: Random, every: float, down: float, *, after: float, until: float, even: bool = False
) -> Iterator[Outage]:
    """Yield outages that start between `after` and `until` [s], with uptimes of `every` and downtimes of
    `down` seconds.

    Both durations are means of exponential distributions, or exact if `even`.
    """

    def lasting(mean: float) -> float:
        return mean if even else random.expovariate(1 / mean)

    start = after + lasting(every)
    while start < until:
        end = start + lasting(down)
        yield Outage(start, end)
        start = end + lasting(every)


def faults_of(node: NodeId, outages: Mapping[FaultKind, Iterable[Outage]]) -> Iterator[Fault]:
    """Yield the faults of one node from its outages by kind; overlapping or adjacent outages of a kind are
    merged.

    A node that is down at time 0 arrives at the end of that outage, or never if it is infinite. If crashes
    and sleeps overlap, the node restarts when both are over.
    """
    merged = {begins: _merge(own) for begins, own in outages.items()}
    if merged.get(FaultKind.SLEEP) and merged.get(FaultKind.CRASH):
        merged[FaultKind.CRASH] = _outlast(merged[FaultKind.CRASH], merged[FaultKind.SLEEP])
    for begins, own in merged.items():
        for start, end in own:
            if begins is FaultKind.CRASH and start <= 0:
                yield Fault(end, node, FaultKind.ARRIVE)
                continue
            yield Fault(start, node, begins)
            if end < math.inf:
                yield Fault(end, node, OUTAGES[begins])


def _merge(outages: Iterable[Outage]) -> list[Outage]:
    """Return the outages sorted by start, without empty ones, and with overlapping or adjacent ones
    merged."""
    merged: list[Outage] = []
    for outage in sorted(outages):
        if outage.end <= outage.start:
            continue
        if merged and outage.start <= merged[-1].end:
            merged[-1] = Outage(merged[-1].start, max(merged[-1].end, outage.end))
        else:
            merged.append(outage)
    return merged


def _outlast(crashes: list[Outage], sleeps: list[Outage]) -> list[Outage]:
    """Return the crashes, each extended to the end of the sleeps and crashes that follow without a gap."""
    extended: list[Outage] = []
    following = iter(crashes)
    crash = next(following, None)
    for _, end in _merge([*crashes, *sleeps]):
        if crash is not None and crash.start <= end:
            extended.append(Outage(crash.start, end))
        while crash is not None and crash.start <= end:
            crash = next(following, None)
    return extended


def absent_nodes(faults: Iterable[Fault]) -> set[NodeId]:
    """Return the nodes that are absent at the start of the run."""
    return {fault.node for fault in faults if fault.kind is FaultKind.ARRIVE}
