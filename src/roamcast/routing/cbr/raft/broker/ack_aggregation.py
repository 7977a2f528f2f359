"""Aggregation of RAFT-CBR's acknowledgements on their way to the publisher."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.routing.cbr.raft.broker.cache import EventCache
from roamcast.routing.cbr.raft.messages import LIST_LIMIT
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Host, NodeId

EventKey = tuple[NodeId, int]
"Publisher and sequence number."


class AckAggregator:
    """Collects acknowledgements and sends those for the same event together (`ack_collection`)."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        cache: EventCache,
        send: Callable[[NodeId, int, frozenset[NodeId]], None],
    ) -> None:
        self.host = host
        self._by_children = parameters.ack_collection == "children"
        self._latest_only = parameters.ack_collection == "latest"
        self._delay, self._capacity = parameters.ack_delay, parameters.cached_events
        self.gathered: dict[EventKey, set[NodeId]] = {}
        "The subscribers whose acknowledgements have not been forwarded."
        self._cache = cache
        self._last: dict[EventKey, float] = {}
        "When the last acknowledgement of each gathered event arrived [s]: `u.ts` of table 3."
        self._own: dict[NodeId, EventKey] = {}
        "By publisher, the event of this node's waiting acknowledgement, if `ack_collection` is 'latest'."
        self._send = send

    def add_own(self, publisher: NodeId, sequence: int) -> None:
        """Acknowledge everything up to an event in the name of this node."""
        node = frozenset((self.host.node,))
        if not self._latest_only:
            self.add(publisher, sequence, node)
            return
        event, earlier = (publisher, sequence), self._own.get(publisher)
        self._gather(event, node)
        self._own[publisher] = event
        waiting = None if earlier in {None, event} else self.gathered.get(earlier)
        if earlier is not None and waiting is not None:
            waiting.difference_update(node)
            if not waiting:
                del self.gathered[earlier]

    def add(self, publisher: NodeId, sequence: int, subscribers: Iterable[NodeId]) -> None:
        """Add an acknowledgement of other nodes; it is sent with the next aggregate of its event."""
        event, subscribers = (publisher, sequence), frozenset(subscribers)
        if len(self.gathered.get(event, ())) + len(subscribers) > LIST_LIMIT:
            self._forward(event)
        if self._by_children:
            self._collect(event, subscribers)
        elif self._latest_only and self._cache.acknowledge(*event, subscribers):
            self._send(*event, subscribers.union(self.gathered.pop(event, ())))
        else:
            self._gather(event, subscribers)

    def _gather(self, event: EventKey, subscribers: frozenset[NodeId]) -> None:
        """Let acknowledgements wait for others, for at most `ack_delay`."""
        if not self.gathered:
            self.host.call_later(self._delay, self._flush)
        self.gathered.setdefault(event, set()).update(subscribers)
        if len(self.gathered) > self._capacity:
            self._flush()

    def _collect(self, event: EventKey, subscribers: frozenset[NodeId]) -> None:
        """Forward the acknowledgements once all destinations below have acknowledged, else after a pause."""
        self.gathered.setdefault(event, set()).update(subscribers)
        if self._cache.acknowledge(*event, subscribers):
            self._forward(event)
            return
        self._last[event] = now = self.host.now()
        self.host.call_later(self._delay, self._check_pause, event, now)
        if len(self.gathered) > self._capacity:
            self._forward(next(iter(self.gathered)))

    def _check_pause(self, event: EventKey, since: float) -> None:
        if self._last.get(event) == since:
            self._forward(event)

    def _forward(self, event: EventKey) -> None:
        self._last.pop(event, None)
        self._send(*event, frozenset(self.gathered.pop(event)))

    def _flush(self) -> None:
        gathered, self.gathered = self.gathered, {}
        self._own.clear()
        for (publisher, sequence), subscribers in gathered.items():
            self._send(publisher, sequence, frozenset(subscribers))
