"""A mesh that records everything that the laws check, and detects storms and endless timers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from roamcast.routing.faults import FaultKind
from roamcast.routing.router import BROADCAST, Drop, Message, NodeId, Publication, Role
from roamcast.testing.host import MeshHost, MeshTimer
from roamcast.testing.mesh import Mesh, RouterFactory
from roamcast.testing.swarm.history import AdvertiseStep, History
from roamcast.testing.swarm.record import (
    Incarnation,
    SwarmDelivery,
    SwarmReception,
    SwarmRecord,
    SwarmTransmission,
    TableOverflow,
)

CALM_PERIOD = 1.0
"Interval in which every node may send one new message that every node repeats, without a storm [s]."
MOST_FRAMES = 20_000
"Maximum excess of frames over that rate, without beacons; more is a storm."
MOST_CRAMPED = 4_000
"The same for histories with limits that are too small; a storm breaks no law there, so it ends early."


TIMERS_PER_NODE = 1_000
"Sustained rate of timers per node [1/s]."
MOST_TIMERS = 50_000
"Maximum excess of timers over that rate."
CHECK_EVERY = 256
"Steps between two checks of the real time."


class StormError(Exception):
    """The routers caused a broadcast storm."""


class TimerError(Exception):
    """The routers set timers endlessly."""


class TimeUpError(Exception):
    """The limit of real time has passed."""


class Bucket:
    """A leaky bucket: counts the excess over a rate; unused capacity is not carried over."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._level = 0.0
        self._at = 0.0

    def add(self, now: float) -> float:
        """Count one item at `now` [s]; return the excess."""
        self._level = max(self._level - self._pace * (now - self._at), 0.0) + 1
        self._at = now
        return self._level


def _calm_pace(history: History) -> float:
    """Return the rate of frames that is not a storm [1/s]: every node repeats one new message of every node.

    Some protocols subscribe to each publisher separately, so the rate grows with more than two publishers.
    """
    publishers = len({step.node for step in history.steps if isinstance(step, AdvertiseStep)})
    return history.nodes**2 / CALM_PERIOD * max(1.0, publishers / 2)


class RecordingMesh(Mesh):
    """Records a run, and calls `hand_over` for each delivery."""

    def __init__(
        self,
        record: SwarmRecord,
        router: RouterFactory,
        hand_over: Callable[[NodeId, Publication], None],
        deadline: float = math.inf,
        **options: Any,
    ) -> None:
        self._record = record
        self._hand_over = hand_over
        self._forging = False
        self._frames = Bucket(_calm_pace(record.history))
        self._timers = Bucket(record.history.nodes * TIMERS_PER_NODE)
        self._deadline = deadline
        "Real time at which the run is stopped (`time.monotonic`) [s]."
        self._steps = 0
        self._overgrown: set[tuple[NodeId, str]] = set()
        # The constructor of the base class starts the routers, which may send at once.
        self.as_bytes = record.history.as_bytes
        super().__init__(record.history.nodes, router, record.history.edges, **options)
        record.lost, record.drops, record.states = self.lost, self.drops, self.states
        record.belated = self.belated
        record.incarnations += [Incarnation(node, 0, 0.0) for node in self.awake()]

    def awake(self) -> list[NodeId]:
        """Return the nodes that are up and not asleep."""
        return [node for node in range(len(self.hosts)) if self.is_awake(node)]

    def is_awake(self, node: NodeId) -> bool:
        """Return whether a node is up and not asleep."""
        return self._up[node] and not self.hosts[node].asleep

    def is_up(self, node: NodeId) -> bool:
        """Return whether a node is up, asleep or not."""
        return self._up[node]

    def inject_fault(self, node: NodeId, what: FaultKind) -> None:
        """Inject a fault at a node, and record where an incarnation begins or ends."""
        was = self._up[node]
        if what is FaultKind.CRASH and was:
            next(life for life in reversed(self._record.incarnations) if life.node == node).end = self.now
        elif what in (FaultKind.START, FaultKind.ARRIVE) and not was:
            # Recorded before the router starts and may send.
            again = 0 if what is FaultKind.ARRIVE else (self.hosts[node].incarnation + 1) % 256
            self._record.incarnations.append(Incarnation(node, again, self.now))
        super().inject_fault(node, what)

    def step(self) -> None:
        """Execute the next action; raise `TimeUpError` after the deadline."""
        self._steps += 1
        if self._steps % CHECK_EVERY == 1 and time.monotonic() > self._deadline:
            raise TimeUpError
        super().step()

    def set_timer(self, time: float, host: MeshHost, timer: MeshTimer) -> None:
        """Set a timer; raise `TimerError` if timers are set endlessly."""
        if self._timers.add(self.now) > MOST_TIMERS:
            self._record.busy = f"{MOST_TIMERS} timers more than {TIMERS_PER_NODE} a second by each node"
            raise TimerError
        super().set_timer(time, host, timer)

    def broadcast_from(self, node: NodeId, message: Message) -> None:
        """Record a broadcast with its intended receivers, and send it."""
        self._put_on_air(node, message, BROADCAST, self.neighbours(node))
        super().broadcast_from(node, message)

    def send_from(self, node: NodeId, message: Message, to: NodeId) -> None:
        """Record a unicast, and send it."""
        self._put_on_air(node, message, to, (to,))
        super().send_from(node, message, to)

    def inject(
        self, to: NodeId, message: Message | bytes, sender: NodeId, signal: float = math.nan
    ) -> Drop | None:
        """Inject a forged frame at a node, if the node can receive."""
        if not self._on_air(to):
            return None
        self._forging = True
        try:
            return super().inject(to, message, sender, signal)
        finally:
            self._forging = False

    def hear(self, node: NodeId, message: Message, sender: NodeId, signal: float) -> Drop | None:
        """Record a reception and its result."""
        forged, self._forging = self._forging, False
        if not self._on_air(node):
            return super().hear(node, message, sender, signal)
        incarnation = self.hosts[node].incarnation
        if forged:
            self._record.forged_publications.add(message.publication_id)
        answer = super().hear(node, message, sender, signal)
        self._record.receptions.append(
            SwarmReception(self.now, node, incarnation, message, sender, answer, forged)
        )
        return answer

    def deliver_at(self, node: NodeId, publication: Publication) -> None:
        """Record a delivery, and pass it to the application."""
        super().deliver_at(node, publication)
        self._record.deliveries.append(
            SwarmDelivery(self.now, node, self.hosts[node].incarnation, publication)
        )
        self._hand_over(node, publication)

    def sample_tables(self) -> None:
        """Record every table that is larger than its limit, once per node and table."""
        for node in range(len(self.hosts)):
            for name, size in self.routers[node].tables().items() if self._up[node] else ():
                if size.entries > size.limit and (node, name) not in self._overgrown:
                    self._overgrown.add((node, name))
                    self._record.overflows.append(TableOverflow(self.now, node, name, size))

    def _put_on_air(self, node: NodeId, message: Message, to: NodeId, reach: Iterable[NodeId]) -> None:
        if message.role is not Role.BEACON:
            most = MOST_CRAMPED if self._record.history.cramped else MOST_FRAMES
            if self._frames.add(self.now) > most:
                raise StormError
        incarnation = self.hosts[node].incarnation
        self._record.transmissions.append(
            SwarmTransmission(self.now, node, incarnation, message, to, tuple(reach), self.is_awake(node))
        )
