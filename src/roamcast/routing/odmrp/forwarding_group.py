"""The forwarding group: soft-state flags of the multicast groups for which this node repeats data."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from roamcast.routing.odmrp.state_facts import FORWARDING_GROUPS, Gauge
from roamcast.routing.router import Footprint, Host, Timer
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.neighbours import TICK

G = TypeVar("G", bound=Hashable)


class ForwardingGroup(Generic[G]):
    """Forwarding-group flags with their leases; each change of their number is recorded as a fact."""

    def __init__(self, host: Host, timeout: float, capacity: int) -> None:
        self._host = host
        self._flags: Leases[G, None] = Leases(timeout, capacity)
        self._lapsed: Leases[G, None] = Leases(timeout, capacity)
        "Recently expired flags; they give the reason when data is dropped."
        self._timer: Timer | None = None
        self._gauge = Gauge(host, FORWARDING_GROUPS)

    def __len__(self) -> int:
        return len(self._flags)

    def join(self, group: G) -> None:
        """Set or renew the flag of a group."""
        now = self._host.now()
        self._flags.renew(group, None, now)
        self._lapsed.discard(group)
        self._gauge.set(len(self._flags))
        if self._timer is None:
            self._watch(now)

    def forwards(self, group: G, now: float) -> bool:
        """Return whether this node repeats the data of a group."""
        flags = self._flags
        entry = flags._entries.get(group)
        return entry is not None and entry[0] > now

    def expired(self, group: G, now: float) -> bool:
        """Return whether this node's flag for a group has expired recently."""
        return group in self._lapsed or (group in self._flags and not self.forwards(group, now))

    def footprint(self, bytes_each: int) -> Footprint:
        """Return the size of the table, without the recently expired flags."""
        return Footprint(len(self._flags), bytes_each * len(self._flags), self._flags.capacity)

    def _watch(self, now: float) -> None:
        first = self._flags.first()
        if first is not None:
            self._timer = self._host.call_later(max(first[1] - now, 0.0) + TICK, self._sweep)

    def _sweep(self) -> None:
        """Remove the flags that have not been renewed."""
        self._timer = None
        now = self._host.now()
        for group, _ in list(self._flags.lapsed(now)):
            self._lapsed.renew(group, None, now)
        self._lapsed.sweep(now)
        self._flags.sweep(now)
        self._gauge.set(len(self._flags))
        self._watch(now)
