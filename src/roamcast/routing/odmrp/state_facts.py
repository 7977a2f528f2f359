"""What only a router knows, as facts with a name: levels that hold until they change, rising counts."""

from __future__ import annotations

from roamcast.routing.router import Host

FORWARDING_GROUPS = "forwarding_groups"
"For how many groups a node forwards."
CHANNELS = "channels"
"How many groups a source sends to."
NOISE = "noise"
"How many events have come on a group to a member that had no use for them."
FALSE_JOINS = "false_joins"
"How often a broker has joined for an event that nobody there wanted, since a summary said yes wrongly."


class Gauge:
    """A number that is told when it changes."""

    __slots__ = ("_host", "_name", "_told")

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._name = name
        self._told = 0

    def set(self, value: int) -> None:
        """Make it known, if it is new."""
        if value != self._told:
            self._told = value
            self._host.state(self._name, float(value))


class Counter(Gauge):
    """A number that rises by one at a time, from 0 when the router starts."""

    __slots__ = ()

    def increment(self) -> None:
        """One more."""
        self.set(self._told + 1)
