"""Channels: the subscriptions that nodes announce, and the multicast group that each of them is."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.odmrp.messages import Announcement
from roamcast.routing.router import Footprint, NodeId
from roamcast.routing.state.leases import Leases
from roamcast.wire.blobs import pattern_size

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

    def wanting(self, event: Event, now: float) -> list[int]:
        """The channels on which an event is to be sent, in order of their number."""
        found: dict[Filter, int] = {}
        for _, channels in self._announced.items(now):
            found.update(channels)
        return sorted({channel for wanted, channel in found.items() if wanted.matches(event)})

    def footprint(self) -> Footprint:
        """Its size."""
        held = [channels for _, (_, channels) in self._announced._entries.items()]
        written = sum(5 + sum(pattern_size(wanted) for wanted, _ in channels) for channels in held)
        return Footprint(len(held), written, self._announced.capacity)
