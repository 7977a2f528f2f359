"""Internal state of routers that is recorded as facts: gauges and counters."""

from __future__ import annotations

from roamcast.routing.router import Host

FORWARDING_GROUPS = "forwarding_groups"
"Number of groups for which a node forwards."
CHANNELS = "channels"
"Number of groups to which a source sends."
NOISE = "noise"
"Number of events that a member received on its group and that matched none of its interests."
FALSE_JOINS = "false_joins"
"Number of joins of a broker that only a false positive of its summary caused."


class Gauge:
    """A number that is recorded when it changes."""

    __slots__ = ("_host", "_name", "_value")

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._name = name
        self._value = 0

    def set(self, value: int) -> None:
        """Record a value, unless it equals the last one."""
        if value != self._value:
            self._value = value
            self._host.state(self._name, float(value))


class Counter(Gauge):
    """A counter that starts at 0 with the router."""

    __slots__ = ()

    def increment(self) -> None:
        """Increase the counter by one."""
        self.set(self._value + 1)
