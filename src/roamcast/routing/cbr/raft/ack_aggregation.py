"""RAFT-CBR's acknowledgements on their way up: each node lets them wait for others like them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Host, NodeId


class AckAggregator:
    """Acknowledgements that wait a moment for others like them."""

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
        """Let an acknowledgement travel on with the next ones."""
        if not self.gathered:
            self.host.call_later(self.parameters.ack_delay, self._flush)
        self.gathered.setdefault((publisher, sequence), set()).update(subscribers)
        if len(self.gathered) > self.parameters.cached_events:
            self._flush()

    def _flush(self) -> None:
        gathered, self.gathered = self.gathered, {}
        for (publisher, sequence), subscribers in gathered.items():
            self._send(publisher, sequence, frozenset(subscribers))
