"""Custody at RAFT-CBR's brokers: an event that has no route is stored and retried.

Only the broker knows that such an event is lost. Subscribers detect a gap by later events, but the last event
before a publisher moves out of reach has no successor, so only brokers can still deliver it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from roamcast.routing.cbr.raft.broker.cache import EventCache
from roamcast.routing.cbr.raft.byte_budget import ByteBudget, event_bytes
from roamcast.routing.cbr.raft.messages import LIST_LIMIT, Addressee, XcastEvent, elapsed_since
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Drop, Host, NodeId
from roamcast.routing.state.serials import is_newer


class Custody:
    """Events that wait for a route, for as long as the broker caches them."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        cache: EventCache,
        send: Callable[[XcastEvent], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.waiting: dict[int, tuple[XcastEvent, dict[NodeId, Addressee]]] = {}
        "Publication id -> the event and the subscribers without a route, the longest waiting first."
        self._cache = cache
        self._send = send
        self._budget = ByteBudget(parameters.event_bytes)

    def add(self, event: XcastEvent, stuck: Collection[Addressee]) -> bool:
        """Schedule another attempt for the `stuck` subscribers of an event; return whether it is the first
        failure.

        Each delay equals the time that the event has already spent here, so retries become less frequent.
        """
        waited = self.host.now() - self._cache.find(event).since
        if waited >= self.parameters.cache_lease:
            self.host.drop(event, Drop.NO_ROUTE)
            return False
        if event.publication_id not in self.waiting:
            if len(self.waiting) >= self.parameters.cached_events:
                oldest, _ = self.waiting.pop(next(iter(self.waiting)))
                self.host.drop(oldest, Drop.TABLE_FULL)
            self.waiting[event.publication_id] = (event, {})
            self.host.call_later(self.parameters.retry_delay(waited), self._retry, event.publication_id)
        elif self.waiting[event.publication_id][1].keys() >= {each.node for each in stuck}:
            self.host.drop(event, Drop.DUPLICATE)
        nodes = self.waiting[event.publication_id][1]
        nodes.update((each.node, each) for each in stuck)
        for node in list(nodes)[:-LIST_LIMIT]:
            del nodes[node]
        if self._budget.spend(event_bytes(event.publication, stuck)):
            sizes = [(id, event_bytes(held.publication, nodes)) for id, (held, nodes) in self.waiting.items()]
            for id in self._budget.surplus(sizes):
                oldest, _ = self.waiting.pop(id)
                self.host.drop(oldest, Drop.TABLE_FULL)
        return waited < self.parameters.link_retry

    def acknowledge(self, publisher: NodeId, sequence: int, subscribers: Iterable[NodeId]) -> None:
        """Remove subscribers that have received everything up to `sequence`, by whatever route."""
        for event, stuck in self.waiting.values():
            if event.publication.publisher == publisher and not is_newer(
                event.publication.sequence, sequence
            ):
                for subscriber in subscribers:
                    stuck.pop(subscriber, None)

    def _retry(self, id: int) -> None:
        event, stuck = self.waiting.pop(id, (None, None))
        if event is not None and not stuck:
            self.host.drop(event, Drop.DUPLICATE)  # all subscribers have it
        elif event is not None and stuck:
            # Update the age: the subscriber compares it with the time of its subscription.
            age = elapsed_since(self._cache.find(event).published, self.host.now())
            self._send(msgspec.structs.replace(event, destinations=tuple(stuck.values()), age=age))
