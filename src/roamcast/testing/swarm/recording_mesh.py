"""A mesh that takes down everything that the laws look at."""

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
"Seconds in which every node may have something new to tell, and every node repeats it: that is no storm."
MOST_FRAMES = 20_000
"Beyond that pace, beacons apart, whose number is known; whoever sends more has made a storm."
MOST_CRAMPED = 4_000
"Where memory was drawn too small: a storm is no finding there, and need not be long."


TIMERS_PER_NODE = 1_000
"Timers that each node may set in a second for ever."
MOST_TIMERS = 50_000
"Beyond that pace, as for frames."
CHECK_EVERY = 256
"Steps between two looks at the real clock."


class StormError(Exception):
    """There is no end of frames."""


class TimerError(Exception):
    """There is no end of timers."""


class TimeUpError(Exception):
    """The real time granted for the play has passed."""


class Bucket:
    """Leaks at a pace: an excess beyond it adds up, and what was not used earlier is not saved for later."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._level = 0.0
        self._at = 0.0

    def add(self, now: float) -> float:
        """Count one more at `now`; return the excess."""
        self._level = max(self._level - self._pace * (now - self._at), 0.0) + 1
        self._at = now
        return self._level


def _calm_pace(history: History) -> float:
    """Return the frames a second that are no storm: every node has something new and every node repeats it.

    Where each publisher is subscribed to by itself, more than two of them are told more.
    """
    publishers = len({step.node for step in history.steps if isinstance(step, AdvertiseStep)})
    return history.nodes**2 / CALM_PERIOD * max(1.0, publishers / 2)


class RecordingMesh(Mesh):
    """Writes into a record what happens, and tells `hand_over` of each delivery."""

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
        "By the real clock (`time.monotonic`)."
        self._steps = 0
        self._overgrown: set[tuple[NodeId, str]] = set()
        # The routers start within the constructor, and may send at once.
        self.as_bytes = record.history.as_bytes
        super().__init__(record.history.nodes, router, record.history.edges, **options)
        record.lost, record.drops, record.states = self.lost, self.drops, self.states
        record.belated = self.belated
        record.incarnations += [Incarnation(node, 0, 0.0) for node in self.awake()]

    def awake(self) -> list[NodeId]:
        """The nodes that are up and not asleep."""
        return [node for node in range(len(self.hosts)) if self.is_awake(node)]

    def is_awake(self, node: NodeId) -> bool:
        """Whether a node is up and not asleep."""
        return self._up[node] and not self.hosts[node].asleep

    def is_up(self, node: NodeId) -> bool:
        """Whether a node is up, asleep or not."""
        return self._up[node]

    def inject_fault(self, node: NodeId, what: FaultKind) -> None:
        """Have something befall a node, and note where a life begins or ends."""
        was = self._up[node]
        if what is FaultKind.CRASH and was:
            next(life for life in reversed(self._record.incarnations) if life.node == node).end = self.now
        elif what in (FaultKind.START, FaultKind.ARRIVE) and not was:
            # Before its router starts and speaks.
            again = 0 if what is FaultKind.ARRIVE else (self.hosts[node].incarnation + 1) % 256
            self._record.incarnations.append(Incarnation(node, again, self.now))
        super().inject_fault(node, what)

    def step(self) -> None:
        """Do what is due next, unless the real time is up."""
        self._steps += 1
        if self._steps % CHECK_EVERY == 1 and time.monotonic() > self._deadline:
            raise TimeUpError
        super().step()

    def set_timer(self, time: float, host: MeshHost, timer: MeshTimer) -> None:
        """Set a timer, unless there is no end of them."""
        if self._timers.add(self.now) > MOST_TIMERS:
            self._record.busy = f"{MOST_TIMERS} timers more than {TIMERS_PER_NODE} a second by each node"
            raise TimerError
        super().set_timer(time, host, timer)

    def broadcast_from(self, node: NodeId, message: Message) -> None:
        """Note who is to hear a message, and carry it."""
        self._put_on_air(node, message, BROADCAST, self.neighbours(node))
        super().broadcast_from(node, message)

    def send_from(self, node: NodeId, message: Message, to: NodeId) -> None:
        """Note that one node is to hear a message, and carry it."""
        self._put_on_air(node, message, to, (to,))
        super().send_from(node, message, to)

    def inject(
        self, to: NodeId, message: Message | bytes, sender: NodeId, signal: float = math.nan
    ) -> Drop | None:
        """Have a node hear a forged frame, if it is on the air."""
        if not self._on_air(to):
            return None
        self._forging = True
        try:
            return super().inject(to, message, sender, signal)
        finally:
            self._forging = False

    def hear(self, node: NodeId, message: Message, sender: NodeId, signal: float) -> Drop | None:
        """Note what a router says of a message."""
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
        """Note a delivery, and hand it to the application."""
        super().deliver_at(node, publication)
        self._record.deliveries.append(
            SwarmDelivery(self.now, node, self.hosts[node].incarnation, publication)
        )
        self._hand_over(node, publication)

    def sample_tables(self) -> None:
        """Look at the size of every table."""
        for node in range(len(self.hosts)):
            for name, size in self.routers[node].tables().items() if self._up[node] else ():
                if size.entries > size.limit and (node, name) not in self._overgrown:
                    self._overgrown.add((node, name))
                    self._record.overflows.append(TableOverflow(self.now, node, name, size))

    def _put_on_air(self, node: NodeId, message: Message, to: NodeId, reach: Iterable[NodeId]) -> None:
        if message.role is not Role.BEACONS:
            most = MOST_CRAMPED if self._record.history.cramped else MOST_FRAMES
            if self._frames.add(self.now) > most:
                raise StormError
        incarnation = self.hosts[node].incarnation
        self._record.transmissions.append(
            SwarmTransmission(self.now, node, incarnation, message, to, tuple(reach), self.is_awake(node))
        )
