"""The host of a router in a mesh, and its timers in virtual time."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from roamcast.routing.router import BROADCAST, Drop, Message, NodeId, Position, Publication, Velocity
from roamcast.testing.records import DroppedMessage, ReportedState, SentMessage

if TYPE_CHECKING:
    from roamcast.testing.mesh import Mesh


class Clock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The clock of one node: its initial time and its rate."""

    start: float = 0.0
    "Time of the clock at the start of the mesh [s]."
    rate: float = 1.0
    "Seconds of the clock per second of virtual time."


class MeshTimer:
    """A timer in virtual time."""

    __slots__ = ("_action", "_args")

    def __init__(self, action: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._action: Callable[..., object] | None = action
        self._args = args

    def cancel(self) -> None:
        """Cancel the timer; the action will not be called."""
        self._action = None

    @property
    def active(self) -> bool:
        """Return whether the timer is pending."""
        return self._action is not None

    def fire(self) -> None:
        """Call the action, unless it was called or cancelled before."""
        action, self._action = self._action, None
        if action is not None:
            action(*self._args)


class MeshHost:
    """The host of one router; a node that restarts gets a new host."""

    def __init__(self, mesh: Mesh, node: NodeId, incarnation: int = 0, clock: Clock | None = None) -> None:
        self.node = node
        self.clock = clock or Clock()
        self.incarnation = incarnation
        again = f"/{incarnation}" if incarnation else ""
        self.random = Random(f"{mesh.seed}/{node}{again}")
        self.ended = False
        "Whether the node has crashed; later calls of its router have no effect."
        self.asleep = False
        self._mesh = mesh
        self._overdue: list[MeshTimer] = []

    def now(self) -> float:
        """Return the time by the clock of the node [s]."""
        return self.clock.start + self.clock.rate * self._mesh.now

    def broadcast(self, message: Message) -> None:
        """Send a message to all neighbours that are up."""
        if self.ended:
            self._mesh.belated.append(SentMessage(self._mesh.now, self.node, message, BROADCAST))
        else:
            self._mesh.broadcast_from(self.node, message)

    def send(self, message: Message, to: NodeId) -> None:
        """Send a message to one neighbour; the router's `link_failed` is called if this fails."""
        if self.ended:
            self._mesh.belated.append(SentMessage(self._mesh.now, self.node, message, to))
        else:
            self._mesh.send_from(self.node, message, to)

    def withdraw(self, neighbour: NodeId) -> list[Message]:
        """Return the messages to `neighbour` that are about to fail, and cancel their `link_failed`."""
        return [] if self.ended else self._mesh.withdraw(self.node, neighbour)

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> MeshTimer:
        """Call `action(*args)` after `delay` [s] by the clock of the node, and return the timer."""
        if not 0 <= delay < math.inf:
            raise ValueError(f"the delay of a timer is {delay!r}; expected a finite number of seconds, >= 0")
        timer = MeshTimer(action, args)
        if self.ended:
            timer.cancel()
        else:
            self._mesh.set_timer(self._mesh.now + delay / self.clock.rate, self, timer)
        return timer

    def position(self) -> Position:
        """Return the position that `Mesh.place` set [m]."""
        return self._mesh.position(self.node)

    def velocity(self) -> Velocity:
        """Return the velocity that `Mesh.place` set [m/s]."""
        return self._mesh.velocity(self.node)

    def distance(self, signal: float) -> float:
        """Return the distance to the sender of a signal [m]; nan if the nodes have no positions."""
        return self._mesh.distance(signal)

    def deliver(self, publication: Publication) -> None:
        """Record a delivery in the mesh."""
        if not self.ended:
            self._mesh.deliver_at(self.node, publication)

    def drop(self, message: Message, reason: Drop, to: NodeId = BROADCAST) -> None:
        """Record a drop in the mesh."""
        if not self.ended:
            self._mesh.drops.append(DroppedMessage(self._mesh.now, self.node, message, reason, to))

    def state(self, name: str, value: float) -> None:
        """Record a state that the router reports in the mesh."""
        if not self.ended:
            self._mesh.states.append(ReportedState(self._mesh.now, self.node, name, value))

    def end(self) -> None:
        """Crash: no timer fires any more, and messages of the router are not sent."""
        self.ended = True
        self.asleep = False
        self._overdue.clear()

    def wake(self) -> None:
        """Wake up: timers that expired during the sleep fire now, in order."""
        self.asleep = False
        overdue, self._overdue = self._overdue, []
        for timer in overdue:
            timer.fire()

    def ring(self, timer: MeshTimer) -> None:
        """Fire a timer, or defer it until the node wakes up; a crashed node ignores it."""
        if self.ended:
            return
        if self.asleep:
            self._overdue.append(timer)
        else:
            timer.fire()
