"""A node of the simulated world: its router and applications, with crashes, sleep and radio outages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roamcast import _kernel
from roamcast.routing.numbering import INCARNATIONS
from roamcast.routing.router import NodeId, Position, Router
from roamcast.sim.apps.application import Application
from roamcast.sim.host import SimHost


class Node:
    """One node. Each start creates a new host and router, and starts its applications."""

    __slots__ = (
        *("_kernel", "_make_host", "_make_router", "_missed"),
        *("applications", "asleep", "host", "incarnation", "number", "radio", "router", "up"),
    )  # slots, since a million nodes with dictionaries need too much memory

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
        "Whether the node has started and not crashed since."
        self.asleep = False
        self.radio = True
        "Whether the radio is on while the node works."
        self.host: SimHost
        self.router: Router
        self._kernel = kernel
        self._make_host = make_host
        self._make_router = make_router
        self._missed: list[tuple[Callable[..., object], tuple[Any, ...]]] | None = None

    @property
    def works(self) -> bool:
        """Whether the node is up and awake."""
        return self.up and not self.asleep

    def position(self) -> Position:
        """Return the node's position [m], whether the scenario grants location or not."""
        return Position(*self._kernel.position(self.number))

    def boot(self) -> None:
        """Create the host and the router, without starting them."""
        self.host = self._make_host(self.number, self.incarnation)
        self.router = self._make_router(self.host)
        self._kernel.attach(self.number, self.router, self.router.promiscuous)
        self.up = True

    def mark_absent(self) -> None:
        """Switch the radio off for a node that arrives later."""
        self._switch_radio()

    def start(self, *, first: bool) -> None:
        """Start the node, for the first time or again without its memory."""
        if not first:
            self.incarnation = (self.incarnation + 1) % INCARNATIONS
        self.boot()
        self._switch_radio()
        self.router.start()
        for application in self.applications:
            application.start()

    def crash(self) -> None:
        """Discard router, timers and queue, and stop the applications."""
        self.up = self.asleep = False
        self._missed = None
        self._kernel.detach(self.number)
        self.host.end()
        self._switch_radio()
        for application in self.applications:
            application.stop()

    def sleep(self) -> None:
        """Suspend the node; its state is kept."""
        self.asleep = True
        self._switch_radio()
        self.host.suspend()

    def wake(self) -> None:
        """Resume the node, and run the actions that were deferred during its sleep."""
        self.asleep = False
        self._switch_radio()
        self.host.resume()
        missed, self._missed = self._missed, None
        for action, args in missed or ():
            action(*args)

    def set_radio(self, on: bool) -> None:
        """Switch the radio on or off."""
        self.radio = on
        self._switch_radio()

    def when_awake(self, action: Callable[..., object], *args: Any) -> None:
        """Run an action of an application, deferred while the node sleeps; dropped if the node is down."""
        if self.works:
            action(*args)
        elif self.up:
            if self._missed is None:
                self._missed = []
            self._missed.append((action, args))

    def _switch_radio(self) -> None:
        self._kernel.set_radio(self.number, self.works and self.radio)
