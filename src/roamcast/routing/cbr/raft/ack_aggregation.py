"""Aggregation of RAFT-CBR's acknowledgements on their way to the publisher."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Host, NodeId


class AckAggregator:
    """Collects acknowledgements for `ack_delay` seconds and sends those for the same event together."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        send: Callable[[NodeId, int, frozenset[NodeId]], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.gathered: dict[tuple[NodeId, int], set[NodeId]] = {}
        self._send = send

    def add(self, publisher: NodeId, sequence: int, subscribers: Iterable[NodeId]) -> None:
        """Add an acknowledgement; it is sent with the next aggregate."""
        if not self.gathered:
            self.host.call_later(self.parameters.ack_delay, self._flush)
        self.gathered.setdefault((publisher, sequence), set()).update(subscribers)
        if len(self.gathered) > self.parameters.cached_events:
            self._flush()

    def _flush(self) -> None:
        gathered, self.gathered = self.gathered, {}
        for (publisher, sequence), subscribers in gathered.items():
            self._send(publisher, sequence, frozenset(subscribers))
