"""A node of the simulated world: its router and its applications, through crashes, sleep and silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast import _kernel
from roamcast.routing.numbering import INCARNATIONS
from roamcast.routing.router import NodeId, Position, Router
from roamcast.sim.apps.application import Application
from roamcast.sim.host import SimHost


class Node:
    """One node. Its host and its router are new each time that it starts; its applications start with it."""

    __slots__ = (
        *("_kernel", "_make_host", "_make_router", "_missed"),
        *("applications", "asleep", "host", "incarnation", "number", "radio", "router", "up"),
    )  # a million nodes have no room for dictionaries

    def __init__(
        self,
        kernel: _kernel.World,
        number: NodeId,
        make_host: Callable[[NodeId, int], SimHost],
        make_router: Callable[[SimHost], Router],
    ) -> None:
        self.number = number
        self.incarnation = 0
        self.applications: tuple[Application, ...] = ()
        self.up = False
        "Whether it has started and not crashed since."
        self.asleep = False
        self.radio = True
        "Whether its radio is switched on, if the node works."
        self.host: SimHost
        self.router: Router
        self._kernel = kernel
        self._make_host = make_host
        self._make_router = make_router
        self._missed: list[tuple[Callable[..., object], tuple[Any, ...]]] | None = None

    @property
    def works(self) -> bool:
        """Whether its programs run."""
        return self.up and not self.asleep

    def position(self) -> Position:
        """Where it is, whether it may know or not."""
        return Position(*self._kernel.position(self.number))

    def boot(self) -> None:
        """Have a router, not yet started."""
        self.host = self._make_host(self.number, self.incarnation)
        self.router = self._make_router(self.host)
        self._kernel.attach(self.number, self.router, self.router.promiscuous)
        self.up = True

    def mark_absent(self) -> None:
        """Not be there yet."""
        self._switch_radio()

    def start(self, *, first: bool) -> None:
        """Start, for the first time or again with an empty memory."""
        if not first:
            self.incarnation = (self.incarnation + 1) % INCARNATIONS
        self.boot()
        self._switch_radio()
        self.router.start()
        for application in self.applications:
            application.start()

    def crash(self) -> None:
        """Lose router, timers, queue and whatever applications knew."""
        self.up = self.asleep = False
        self._missed = None
        self._kernel.detach(self.number)
        self.host.end()
        self._switch_radio()
        for application in self.applications:
            application.stop()

    def sleep(self) -> None:
        """Stop in the middle of everything, and remember it."""
        self.asleep = True
        self._switch_radio()
        self.host.suspend()

    def wake(self) -> None:
        """Go on, first with what should have happened meanwhile."""
        self.asleep = False
        self._switch_radio()
        self.host.resume()
        missed, self._missed = self._missed, None
        for action, args in missed or ():
            action(*args)

    def set_radio(self, on: bool) -> None:
        """Switch the radio."""
        self.radio = on
        self._switch_radio()

    def when_awake(self, action: Callable[..., object], *args: Any) -> None:
        """Have a program do something, at the waking if the node sleeps; never if it is down."""
        if self.works:
            action(*args)
        elif self.up:
            if self._missed is None:
                self._missed = []
            self._missed.append((action, args))

    def _switch_radio(self) -> None:
        self._kernel.set_radio(self.number, self.works and self.radio)
