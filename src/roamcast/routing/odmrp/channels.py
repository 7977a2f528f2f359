"""Channels of ODMRP: announced subscriptions, each with its multicast group, and the state of a source."""

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
def channel_of(filter: Filter) -> int:
    """Return the channel number of a subscription: the same at every node, never 0.

    Two subscriptions can hash to the same number. Their members then share the channel, and each member drops
    the events that it is not subscribed to.
    """
    number = int.from_bytes(hashlib.blake2b(filter.to_bytes(), digest_size=4).digest(), "big")
    return number or 1


class Channels:
    """The channels that other nodes have announced, as soft state."""

    def __init__(self, lease: float, capacity: int) -> None:
        self._announced: Leases[tuple[NodeId, int], tuple[tuple[Filter, int], ...]] = Leases(lease, capacity)

    def hear(self, message: Announcement, now: float) -> None:
        """Store the subscriptions of an announcement, in place of the previous ones of that node and part."""
        channels = tuple((filter, channel_of(filter)) for filter in message.filters)
        self._announced.renew((message.origin, message.part), channels, now)

    def matching(self, event: Event, now: float) -> list[int]:
        """Return the channels whose subscriptions match an event, in ascending order."""
        found: dict[Filter, int] = {}
        for _, channels in self._announced.items(now):
            found.update(channels)
        return sorted({channel for filter, channel in found.items() if filter.matches(event)})

    def footprint(self) -> Footprint:
        """Return the size of the table."""
        held = [channels for _, (_, channels) in self._announced._entries.items()]
        written = sum(5 + sum(filter_size(filter) for filter, _ in channels) for channels in held)
        return Footprint(len(held), written, self._announced.capacity)


class ChannelSource:
    """The state of a source on one channel: the time of the next join request, and the delay of data."""

    def __init__(self, parameters: MeshParameters) -> None:
        self._parameters = parameters
        self._interval = RefreshInterval(parameters)
        self.flooded_at = -inf
        self._answered_at = -inf
        self._stands_at = -inf
        "Time at which the most recently started mesh is complete [s]."

    def is_due(self, now: float) -> bool:
        """Return whether the refresh interval has passed since the last join request."""
        return now - self.flooded_at >= self._interval.seconds()

    def flood(self, now: float) -> None:
        """Record a join request; if all forwarding-group flags may have expired, it starts a new mesh."""
        self.flooded_at = now
        self._interval.flooded()
        p = self._parameters
        # The first flags were set one round trip before the join table arrived, and must last for another.
        if now - self._answered_at >= p.timeout - 2 * p.round_trip:
            self._stands_at = now + p.round_trip

    def hear(self, lifetimes: tuple[int, ...], now: float) -> None:
        """Record a join table that reached the source."""
        self._interval.hear(lifetimes)
        self._answered_at = now

    def wait(self, now: float) -> float:
        """Return how long data must wait until the mesh is complete [s]."""
        return max(self._stands_at - now, 0.0)
