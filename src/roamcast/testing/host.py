"""The host that a router in a mesh sees, and its timers in virtual time."""

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
    """The clock of one node: what its router calls a second, and since when."""

    start: float = 0.0
    "What it shows at the beginning [s]."
    rate: float = 1.0
    "Its seconds in a true second."


class MeshTimer:
    """A timer in virtual time."""

    __slots__ = ("_action", "_args")

    def __init__(self, action: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._action: Callable[..., object] | None = action
        self._args = args

    def cancel(self) -> None:
        """Make sure that it will not happen."""
        self._action = None

    @property
    def active(self) -> bool:
        """Whether it is still to happen."""
        return self._action is not None

    def fire(self) -> None:
        """Do it, once, unless cancelled."""
        action, self._action = self._action, None
        if action is not None:
            action(*self._args)


class MeshHost:
    """The host of one router; a node that starts anew has a new one."""

    def __init__(self, mesh: Mesh, node: NodeId, incarnation: int = 0, clock: Clock | None = None) -> None:
        self.node = node
        self.clock = clock or Clock()
        self.incarnation = incarnation
        again = f"/{incarnation}" if incarnation else ""
        self.random = Random(f"{mesh.seed}/{node}{again}")
        self.ended = False
        "Whether the node has crashed since: late calls of its router then do nothing."
        self.asleep = False
        self._mesh = mesh
        self._overdue: list[MeshTimer] = []

    def now(self) -> float:
        """Return the virtual seconds since the mesh was made, by the clock of the node."""
        return self.clock.start + self.clock.rate * self._mesh.now

    def broadcast(self, message: Message) -> None:
        """Send to every living neighbour."""
        if self.ended:
            self._mesh.belated.append(SentMessage(self._mesh.now, self.node, message, BROADCAST))
        else:
            self._mesh.broadcast_from(self.node, message)

    def send(self, message: Message, to: NodeId) -> None:
        """Send to one neighbour; `link_failed` follows if it cannot be reached."""
        if self.ended:
            self._mesh.belated.append(SentMessage(self._mesh.now, self.node, message, to))
        else:
            self._mesh.send_from(self.node, message, to)

    def withdraw(self, neighbour: NodeId) -> list[Message]:
        """Take back what the link has not brought to `neighbour` yet and never will."""
        return [] if self.ended else self._mesh.withdraw(self.node, neighbour)

    def call_later(self, delay: float, action: Callable[..., object], *args: Any) -> MeshTimer:
        """Call `action(*args)` after `delay` virtual seconds by the clock of the node."""
        if not 0 <= delay < math.inf:
            raise ValueError(f"a delay must be finite and not negative, not {delay!r}")
        timer = MeshTimer(action, args)
        if self.ended:
            timer.cancel()
        else:
            self._mesh.set_timer(self._mesh.now + delay / self.clock.rate, self, timer)
        return timer

    def position(self) -> Position:
        """Where `Mesh.place` put the node; a mesh has no geometry of its own."""
        return self._mesh.position(self.node)

    def velocity(self) -> Velocity:
        """As `Mesh.place` has it."""
        return self._mesh.velocity(self.node)

    def distance(self, signal: float) -> float:
        """Metres to a sender of that signal, where the two were given places."""
        return self._mesh.distance(signal)

    def deliver(self, publication: Publication) -> None:
        """Note a delivery for the story to check."""
        if not self.ended:
            self._mesh.deliver_at(self.node, publication)

    def drop(self, message: Message, reason: Drop, to: NodeId = BROADCAST) -> None:
        """Note a drop for the story to check."""
        if not self.ended:
            self._mesh.drops.append(DroppedMessage(self._mesh.now, self.node, message, reason, to))

    def state(self, name: str, value: float) -> None:
        """Note what the router says of itself for the story to check."""
        if not self.ended:
            self._mesh.states.append(ReportedState(self._mesh.now, self.node, name, value))

    def end(self) -> None:
        """Crash: no timer fires, and a router that does not know yet speaks to nobody."""
        self.ended = True
        self.asleep = False
        self._overdue.clear()

    def wake(self) -> None:
        """Wake up: what came due in sleep happens now, in order."""
        self.asleep = False
        overdue, self._overdue = self._overdue, []
        for timer in overdue:
            timer.fire()

    def ring(self, timer: MeshTimer) -> None:
        """Have a timer fire, now or at the waking; never once the node has crashed."""
        if self.ended:
            return
        if self.asleep:
            self._overdue.append(timer)
        else:
            timer.fire()
