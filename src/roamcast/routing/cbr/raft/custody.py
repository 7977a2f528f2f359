"""RAFT-CBR's brokers when no way is left: an event that could not be passed on is kept and tried again.

Nobody but the broker knows that it is lost. What is published after it would show the gap; but the last event
before a publisher walks out of reach has nothing after it, and then brokers alone can still deliver it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from roamcast.routing.cbr.raft.cache import EventCache
from roamcast.routing.cbr.raft.messages import Addressee, XcastEvent, elapsed_since
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Drop, Host, NodeId


class Custody:
    """Events that wait for a way, as long as the broker caches them."""

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
        "Events, the one that has waited longest first, and the subscribers to whom there was no way."
        self._cache = cache
        self._send = send

    def add(self, event: XcastEvent, stuck: Collection[Addressee]) -> bool:
        """Try again later to send an event to some of its subscribers; say whether that is the first time.

        Each wait is as long as the event has been here already, so a broken link is tried ever more rarely.
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
            self.host.call_later(max(self.parameters.link_retry, waited), self._retry, event.publication_id)
        elif self.waiting[event.publication_id][1].keys() >= {each.node for each in stuck}:
            self.host.drop(event, Drop.DUPLICATE)
        self.waiting[event.publication_id][1].update((each.node, each) for each in stuck)
        return waited < self.parameters.link_retry

    def acknowledge(self, publisher: NodeId, sequence: int, subscribers: Iterable[NodeId]) -> None:
        """Learn that subscribers have everything up to an event, by whatever way it came."""
        for event, stuck in self.waiting.values():
            if event.publication.publisher == publisher and event.publication.sequence <= sequence:
                for subscriber in subscribers:
                    stuck.pop(subscriber, None)

    def _retry(self, id: int) -> None:
        event, stuck = self.waiting.pop(id, (None, None))
        if event is not None and not stuck:
            self.host.drop(event, Drop.DUPLICATE)  # all have it, by other ways
        elif event is not None and stuck:
            # It is older now: by its age a subscriber tells whether it had asked before.
            age = elapsed_since(self._cache.find(event).published, self.host.now())
            self._send(msgspec.structs.replace(event, destinations=tuple(stuck.values()), age=age))
