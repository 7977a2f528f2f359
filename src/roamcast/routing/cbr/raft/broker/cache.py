"""Event cache of RAFT-CBR's brokers: every node on the path keeps recent events for retransmission."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from roamcast.routing.cbr.raft.byte_budget import ByteBudget, event_bytes
from roamcast.routing.cbr.raft.messages import (
    LIST_LIMIT,
    LOWEST,
    Addressee,
    Nack,
    SequenceGap,
    XcastEvent,
    elapsed_since,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Host, NodeId, Publication
from roamcast.routing.state.leases import Leases


class CachedEvent(NamedTuple):
    """An event that this node received or forwarded."""

    publication: Publication
    chain: tuple[NodeId, ...]
    "The path from the publisher to this node."
    destinations: dict[NodeId, Addressee]
    "The subscribers that it was addressed to."
    published: float
    "Latest possible time of publication [s]."
    since: float
    "When this node first received it [s]."
    acknowledged: set[NodeId]
    "The destinations that have acknowledged it (`u.ackd`), recorded if `ack_collection` is 'children'."


class EventCache:
    """Events cached for `cache_lease` seconds, to answer negative acknowledgements."""

    def __init__(self, host: Host, parameters: RaftCbrParameters) -> None:
        self.host = host
        self.parameters = parameters
        self.events: Leases[int, CachedEvent] = Leases(parameters.cache_lease, parameters.cached_events)
        self._budget = ByteBudget(parameters.event_bytes)

    def add(self, event: XcastEvent, chain: tuple[NodeId, ...]) -> None:
        """Cache an event with its destinations and its path, merged with an earlier copy."""
        now, id = self.host.now(), event.publication.id
        held = self.events.get(id, now)
        destinations = {each.node: each for each in event.destinations}
        published, since = now - event.age / 1000, now
        acknowledged: set[NodeId] = set()
        if held is not None:
            merged = held.destinations | destinations
            destinations = merged if len(merged) <= LIST_LIMIT else destinations
            published, since = min(published, held.published), held.since
            acknowledged = held.acknowledged
        self.events.sweep(now)
        cached = CachedEvent(event.publication, chain, destinations, published, since, acknowledged)
        self.events.renew(id, cached, now)
        if self._budget.spend(event_bytes(event.publication, event.destinations) + 4 * len(chain)):
            sizes = [
                (id, event_bytes(each.publication, each.destinations) + 4 * len(each.chain))
                for id, each in self.events.items(now)
            ]
            for id in self._budget.surplus(sizes):
                self.events.discard(id)

    def find(self, event: XcastEvent) -> CachedEvent:
        """Return the entry of an event; create it if the event is not cached."""
        held = self.events.get(event.publication_id, self.host.now())
        if held is None:
            self.add(event, event.chain)
            return self.find(event)
        return held

    def parent(self, publisher: NodeId, sequence: int) -> NodeId:
        """Return the node that an event came from; the publisher if the event is no longer cached."""
        held = self.events.get(publisher << 32 | sequence, self.host.now())
        return held.chain[-2] if held is not None and len(held.chain) > 1 else publisher

    def acknowledge(self, publisher: NodeId, sequence: int, subscribers: Set[NodeId]) -> bool:
        """Record acknowledgements of an event; return whether all destinations here have acknowledged it.

        False if the event is not cached.
        """
        held = self.events.get(publisher << 32 | sequence, self.host.now())
        if held is None:
            return False
        held.acknowledged.update(held.destinations.keys() & subscribers)
        return held.acknowledged >= held.destinations.keys()

    def serve(self, nack: Nack) -> tuple[list[XcastEvent], list[SequenceGap]]:
        """Return the cached events that a subscriber is missing, and the gaps that remain."""
        now = self.host.now()
        found = []
        for _, cached in self.events.items(now):
            if cached.publication.publisher == nack.publisher:
                addressee = cached.destinations.get(nack.subscriber)
                if addressee is not None and addressee.edition >= nack.edition:
                    found.append((cached.publication.sequence, cached, addressee))
        p = self.parameters
        most = p.window if p.paced else p.cached_events
        holes = list(nack.holes)
        served: list[XcastEvent] = []
        for sequence, cached, addressee in sorted(found, key=lambda each: each[0]):
            if len(served) >= most:
                break
            if any(first <= sequence <= last for first, last in holes):
                # A subscriber misses nothing before the first event that was addressed to it.
                holes = subtract(holes, addressee.before + 1 if addressee.before >= 0 else LOWEST, sequence)
                served.append(
                    XcastEvent(
                        cached.publication,
                        cached.chain,
                        (addressee,),
                        elapsed_since(cached.published, now),
                    )
                )
        return served, holes


def subtract(holes: Iterable[SequenceGap], first: int, last: int) -> list[SequenceGap]:
    """Return what remains of `holes` after the range first..last is filled."""
    left = []
    for low, high in holes:
        if last < low or high < first:
            left.append(SequenceGap(low, high))
            continue
        if low < first:
            left.append(SequenceGap(low, first - 1))
        if last < high:
            left.append(SequenceGap(last + 1, high))
    return left
