"""Channels: the subscriptions that nodes announce, each of them a multicast group, and sources on them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from math import inf

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.odmrp.link_expiry import RefreshInterval
from roamcast.routing.odmrp.messages import Announcement
from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import filter_size

EVERYONE = 0
"The channel of all subscribers."


@lru_cache(maxsize=4096)
def channel_of(wanted: Filter) -> int:
    """The channel of a subscription: the same at every node, never 0.

    Two subscriptions may share a number by chance; their members then share the channel, and filter.
    """
    number = int.from_bytes(hashlib.blake2b(wanted.to_bytes(), digest_size=4).digest(), "big")
    return number or 1


class Channels:
    """The channels that others have announced, under lease."""

    def __init__(self, lease: float, capacity: int) -> None:
        self._announced: Leases[tuple[NodeId, int], tuple[tuple[Filter, int], ...]] = Leases(lease, capacity)

    def hear(self, message: Announcement, now: float) -> None:
        """Take down what a node wants now; what it wanted before is forgotten."""
        channels = tuple((wanted, channel_of(wanted)) for wanted in message.filters)
        self._announced.renew((message.origin, message.part), channels, now)

    def matching(self, event: Event, now: float) -> list[int]:
        """The channels on which an event is to be sent, in order of their number."""
        found: dict[Filter, int] = {}
        for _, channels in self._announced.items(now):
            found.update(channels)
        return sorted({channel for wanted, channel in found.items() if wanted.matches(event)})

    def footprint(self) -> Footprint:
        """Its size."""
        held = [channels for _, (_, channels) in self._announced._entries.items()]
        written = sum(5 + sum(filter_size(wanted) for wanted, _ in channels) for channels in held)
        return Footprint(len(held), written, self._announced.capacity)


class ChannelSource:
    """A source on one of its channels: when it floods the next join request, and when data finds the mesh."""

    def __init__(self, parameters: MeshParameters) -> None:
        self._parameters = parameters
        self._interval = RefreshInterval(parameters)
        self.flooded_at = -inf
        self._answered_at = -inf
        self._stands_at = -inf
        "When the mesh that was begun last is complete."

    def is_due(self, now: float) -> bool:
        """Whether it is time for a join request."""
        return now - self.flooded_at >= self._interval.seconds()

    def flood(self, now: float) -> None:
        """Note a join request; where none of the mesh may be left, it begins a new one."""
        self.flooded_at = now
        self._interval.flooded()
        p = self._parameters
        # The first flags were set a round trip before the answer came, and these must last for another.
        if now - self._answered_at >= p.timeout - 2 * p.round_trip:
            self._stands_at = now + p.round_trip

    def hear(self, lifetimes: tuple[int, ...], now: float) -> None:
        """Note a join table that came back."""
        self._interval.hear(lifetimes)
        self._answered_at = now

    def wait(self, now: float) -> float:
        """How long data that follows a join request waits until the mesh stands."""
        return max(self._stands_at - now, 0.0)
