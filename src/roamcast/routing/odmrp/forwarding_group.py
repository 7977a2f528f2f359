"""The forwarding group: for which groups this node repeats what it hears, as soft state."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from roamcast.routing.odmrp.state_facts import FORWARDING_GROUPS, Gauge
from roamcast.routing.router import Footprint, Host, Timer
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.neighbours import TICK

G = TypeVar("G", bound=Hashable)


class ForwardingGroup(Generic[G]):
    """FG flags by group, each with its expiry; how many there are is a fact whenever it changes."""

    def __init__(self, host: Host, timeout: float, capacity: int) -> None:
        self._host = host
        self._flags: Leases[G, None] = Leases(timeout, capacity)
        self._lapsed: Leases[G, None] = Leases(timeout, capacity)
        "Flags that have expired lately, so that a loss can be explained by it."
        self._timer: Timer | None = None
        self._told = Gauge(host, FORWARDING_GROUPS)

    def __len__(self) -> int:
        return len(self._flags)

    def join(self, group: G) -> None:
        """Set the flag of a group, or renew it."""
        now = self._host.now()
        self._flags.renew(group, None, now)
        self._lapsed.discard(group)
        self._told.set(len(self._flags))
        if self._timer is None:
            self._watch(now)

    def forwards(self, group: G, now: float) -> bool:
        """Whether what is sent to a group is repeated here."""
        flags = self._flags
        entry = flags._entries.get(group)
        return entry is not None and entry[0] > now

    def expired(self, group: G, now: float) -> bool:
        """Whether this node forwarded for a group until lately."""
        return group in self._lapsed or (group in self._flags and not self.forwards(group, now))

    def footprint(self, bytes_each: int) -> Footprint:
        """Its size; what lapsed lately is not counted."""
        return Footprint(len(self._flags), bytes_each * len(self._flags), self._flags.capacity)

    def _watch(self, now: float) -> None:
        first = self._flags.first()
        if first is not None:
            self._timer = self._host.call_later(max(first[1] - now, 0.0) + TICK, self._sweep)

    def _sweep(self) -> None:
        """Let the flags go that have not been renewed."""
        self._timer = None
        now = self._host.now()
        for group, _ in list(self._flags.lapsed(now)):
            self._lapsed.renew(group, None, now)
        self._lapsed.sweep(now)
        self._flags.sweep(now)
        self._told.set(len(self._flags))
        self._watch(now)
