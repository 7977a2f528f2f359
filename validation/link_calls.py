"""Counting a router's calls of its link, as ns-2's trace counts messages.

ns-2 traces a message as sent when the router hands it to the link, even if ARP or a full queue loses it or
the router takes it back from the queue. Facts have only the messages that went on the air.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from roamcast.routing.router import Category, Host, Message, NodeId, Parameters
from roamcast.routing.unicast.copies import AodvUnicast, DsdvUnicast, DsrUnicast, UnicastCopies
from roamcast.wire.message import unwrap

ROUTERS = {"aodv": AodvUnicast, "dsdv": DsdvUnicast, "dsr": DsrUnicast}


class LinkCalls:
    """The number of calls of `broadcast` and `send` by category, from a time on."""

    def __init__(self) -> None:
        self.since = 0.0
        self.by_category: dict[Category, int] = {}

    def reset(self, since: float) -> None:
        """Count from zero, calls at `since` [s] or later."""
        self.since = since
        self.by_category = {}

    def add(self, now: float, category: Category) -> None:
        """Count one call."""
        if now >= self.since:
            self.by_category[category] = self.by_category.get(category, 0) + 1


class CountingHost:
    """A host that counts the calls of its link; everything else is the host's own."""

    def __init__(self, host: Host, calls: LinkCalls) -> None:
        self._host = host
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def broadcast(self, message: Message) -> None:
        """Count and broadcast a message."""
        self._calls.add(self._host.now(), unwrap(message).category)
        self._host.broadcast(message)

    def send(self, message: Message, to: NodeId) -> None:
        """Count and send a message."""
        self._calls.add(self._host.now(), unwrap(message).category)
        self._host.send(message, to)


class Counted(UnicastCopies):
    """A unicast baseline whose calls of the link are counted."""

    calls: LinkCalls

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(cast("Host", CountingHost(host, self.calls)), parameters)


@cache
def counted(routing: str) -> type[Counted]:
    """Return the unicast baseline over `routing` with `calls`, which counts for all its nodes."""
    base = ROUTERS[routing]
    return type(f"Counted{base.__name__}", (Counted, base), {"calls": LinkCalls()})
