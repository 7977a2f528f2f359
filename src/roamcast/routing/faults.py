"""Faults as data: what befalls which node when, decided before the run and the same for every protocol.

The simulator and `roamcast.testing.Mesh` play the same list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple

from roamcast.routing.router import NodeId


class FaultKind(Enum):
    """What befalls a node."""

    ARRIVE = "arrive"
    "It starts for the first time: until then it was not there."
    CRASH = "crash"
    "It is gone: router, timers and queue are lost."
    START = "start"
    "It starts again with an empty memory, in its next incarnation."
    SLEEP = "sleep"
    "It stops with its memory intact, and its radio is off; timers that come due wait for the waking."
    WAKE = "wake"
    RADIO_OFF = "radio_off"
    "It works, but hears and sends nothing."
    RADIO_ON = "radio_on"


class Fault(NamedTuple):
    """What befalls a node at a moment."""

    time: float
    node: NodeId
    kind: FaultKind


class Outage(NamedTuple):
    """From when until when something is out of order; an endless one ends at infinity."""

    start: float
    end: float


OUTAGES = {
    FaultKind.CRASH: FaultKind.START,
    FaultKind.SLEEP: FaultKind.WAKE,
    FaultKind.RADIO_OFF: FaultKind.RADIO_ON,
}
"What begins an outage, and what ends it."


def draw_outages(
    random: Random, every: float, down: float, *, after: float, until: float, even: bool = False
) -> Iterator[Outage]:
    """Outages that begin between `after` and `until`: `every` seconds in order, then `down` out of it.

    Both are means of exponential times, unless `even`.
    """

    def lasting(mean: float) -> float:
        return mean if even else random.expovariate(1 / mean)

    start = after + lasting(every)
    while start < until:
        end = start + lasting(down)
        yield Outage(start, end)
        start = end + lasting(every)


def faults_of(node: NodeId, outages: Mapping[FaultKind, Iterable[Outage]]) -> Iterator[Fault]:
    """The faults of one node, from its outages by kind; outages of a kind that overlap or touch are one.

    A node that is down from the beginning arrives at the end of that, be it never. A node that crashes in its
    sleep, or would fall asleep while it is down, starts again when both outages are over.
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
    """The outages in order, those that overlap or touch as one, empty ones left out."""
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
    """The crashes, each extended to the end of the sleeps and crashes that follow without a gap."""
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
    """The nodes that are not there from the beginning."""
    return {fault.node for fault in faults if fault.kind is FaultKind.ARRIVE}
