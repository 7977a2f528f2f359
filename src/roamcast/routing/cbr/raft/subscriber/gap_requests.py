"""Negative acknowledgements of a RAFT-CBR subscriber: requests for the events missing in a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roamcast.routing.cbr.raft.messages import HIGHEST, LIST_LIMIT, LOWEST, Nack, SequenceGap, wire_number
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.subscriber.publisher_stream import PublisherStream, wire_gaps
from roamcast.routing.router import Host, NodeId


class GapRequests:
    """Requests missing events after `nack_delay`; with `paced`, again after one second, two, four ..."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        streams: Mapping[NodeId, PublisherStream],
        send: Callable[[Nack], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self._streams = streams
        self._send_nack = send

    def schedule(self, publisher: NodeId, stream: PublisherStream) -> None:
        """Request the missing events of a stream after `nack_delay`."""
        if not stream.asking:
            stream.asking = True
            self.host.call_later(self.parameters.nack_delay, self._request, publisher, stream)

    def _request(self, publisher: NodeId, stream: PublisherStream) -> None:
        stream.asking = False
        holes = stream.gaps()
        if not holes:
            return
        now, p = self.host.now(), self.parameters
        if not p.paced:
            self._send(publisher, stream, wire_gaps(holes))
            return
        if now < stream.requested_at + stream.timeout:
            # Requested a moment ago: the answer may be on its way.
            holes = [hole for hole in holes if hole[1] > stream.requested]
        else:
            stream.requested_at = now
            if stream.requested > LOWEST:
                stream.timeout = min(2 * stream.timeout, p.ping_wait)
        if holes:
            stream.requested = holes[-1][1]
            self._send(publisher, stream, wire_gaps(holes))
        if not stream.reminded and stream.timeout < p.ping_wait:
            stream.reminded = True
            wait = max(stream.requested_at + stream.timeout - now, p.nack_delay)
            self.host.call_later(wait, self._repeat, publisher, stream)

    def _repeat(self, publisher: NodeId, stream: PublisherStream) -> None:
        """Request the missing events again, although no new event has shown a gap."""
        stream.reminded = False
        if self._streams.get(publisher) is stream:
            self._request(publisher, stream)

    def _send(self, publisher: NodeId, stream: PublisherStream, holes: list[SequenceGap]) -> None:
        self._send_nack(
            Nack(
                publisher,
                self.host.node,
                stream.chain,
                wire_number(stream.last),
                tuple(holes[:LIST_LIMIT]),
                stream.edition,
            )
        )

    def request_all(self, publisher: NodeId, stream: PublisherStream) -> None:
        """Request all missing events at once, and those after the last one known."""
        top = wire_number(max(stream.early) + 1) if stream.early else LOWEST
        self._send(publisher, stream, [*wire_gaps(stream.gaps()), SequenceGap(top, HIGHEST)])
