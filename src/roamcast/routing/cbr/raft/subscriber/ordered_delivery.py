"""RAFT-CBR at the subscriber: ordered delivery without duplicates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import inf

from roamcast.routing.cbr.raft.byte_budget import ByteBudget, event_bytes
from roamcast.routing.cbr.raft.messages import (
    LOWEST,
    ORDER_LIMIT,
    Addressee,
    Nack,
    XcastEvent,
    first_version,
    wire_number,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.subscriber.gap_requests import GapRequests
from roamcast.routing.cbr.raft.subscriber.publisher_stream import BufferedEvent, PublisherStream
from roamcast.routing.router import Drop, Host, NodeId, Publication


class OrderedDelivery:
    """Delivers events in order: buffers early ones, and acknowledges duplicates again."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        incarnation: int,
        acknowledge: Callable[[NodeId, int], None],
        ask: Callable[[Nack], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.incarnation = incarnation
        self.streams: dict[NodeId, PublisherStream] = {}
        p = parameters
        self._budget = ByteBudget(p.event_bytes)
        self._run_gather = (p.window - 1) * p.ack_delay if p.paced and p.retransmit_runs else 0.0
        self._acknowledge = acknowledge
        self._requests = GapRequests(host, p, self.streams, ask)

    def handle(
        self, event: XcastEvent, place: Addressee, chain: tuple[NodeId, ...], sure: float, subscribed: bool
    ) -> Drop | None:
        """Handle an event addressed to this node; deliver it to the application if `subscribed`.

        The publisher knew all interests up to time `sure`. It may still insert events before those published
        later, so these are buffered.
        """
        publication = event.publication
        if place.before < 0 and place.before != first_version(self.incarnation):
            return Drop.EXPIRED
        stream = self._stream(publication.publisher)
        stream.chain = chain
        sequence, before = stream.extend(publication.sequence), stream.extend(place.before)
        if sequence <= stream.last:
            self._acknowledge(publication.publisher, wire_number(stream.last))
            return Drop.DUPLICATE
        if place.edition < stream.edition:
            if sequence not in stream.order:
                return Drop.EXPIRED
            before = stream.order[sequence]
        self._renumber(stream, place.edition)
        published = self.host.now() - event.age / 1000
        late = event.age >= 1000 * self.parameters.retransmit_timeout and self._run_gather > 0
        if before > stream.last or published > sure:
            return self._keep_early(
                stream, BufferedEvent(sequence, before, published, subscribed, publication)
            )
        # No event was addressed to this node between `before` and this one, so there is no gap.
        self._deliver(stream, sequence, publication, subscribed)
        self._deliver_buffered(publication.publisher, stream, sure, late)
        return None if subscribed else Drop.UNWANTED

    def resume(
        self,
        publisher: NodeId,
        edition: int,
        order: Mapping[int, int] | None = None,
        doubtful: Collection[int] = (),
    ) -> None:
        """Deliver buffered events: the publisher knows all interests and will not insert further events.

        `order` is the predecessor of each outstanding event of this edition, if the publisher has listed
        them; earlier copies of the `doubtful` ones are dropped.
        """
        stream = self._stream(publisher)
        self._renumber(stream, edition)
        if order is not None and edition == stream.edition:
            self._place(
                stream,
                {stream.extend(each): stream.extend(order[each]) for each in order},
                {stream.extend(each) for each in doubtful},
            )
        if stream.early:
            self._deliver_buffered(publisher, stream, inf)

    def last(self, publisher: NodeId) -> int:
        """Return the sequence number of the last event delivered from `publisher`."""
        stream = self.streams.get(publisher)
        return first_version(self.incarnation) if stream is None else wire_number(stream.last)

    def drop_buffered(self, publisher: NodeId) -> None:
        """Drop the buffered events of a publisher whose subscription was evicted.

        Without a subscription no acknowledgement says which events are missing before them. The publisher
        retransmits them until they are acknowledged.
        """
        stream = self.streams.get(publisher)
        if stream is not None:
            self._forget(stream, Drop.TABLE_FULL)

    def answer_ping(self, publisher: NodeId, chain: tuple[NodeId, ...]) -> None:
        """Answer a ping with a request for missing events, or with an acknowledgement if there is no gap."""
        stream = self._stream(publisher)
        stream.chain = chain
        if stream.last >= 0 and not stream.early:
            self._acknowledge(publisher, wire_number(stream.last))
            return
        self._requests.request_all(publisher, stream)

    def _deliver_buffered(
        self, publisher: NodeId, stream: PublisherStream, sure: float, late: bool = False
    ) -> None:
        """Deliver the buffered events that are now in order, and request the missing ones."""
        while stream.early:
            first = min(stream.early)
            waiting = stream.early[first]
            if first > stream.last and (waiting.before > stream.last or waiting.published > sure):
                break
            del stream.early[first]
            if first > stream.last:
                self._deliver(stream, first, waiting.publication, waiting.subscribed)
                if not waiting.subscribed:
                    self._drop(waiting, Drop.UNWANTED)
            else:
                self._drop(waiting, Drop.DUPLICATE)
        for sequence in [each for each in stream.unplaced if each <= stream.last]:
            self._drop(stream.unplaced.pop(sequence), Drop.UNWANTED)
        if stream.last >= 0:
            if late:
                self._acknowledge_later(publisher, stream)
            else:
                self._acknowledge(publisher, wire_number(stream.last))
        if stream.early:
            self._requests.schedule(publisher, stream)
        else:
            stream.timeout, stream.requested = self.parameters.retransmit_timeout, LOWEST

    def _acknowledge_later(self, publisher: NodeId, stream: PublisherStream) -> None:
        """Acknowledge a retransmitted event together with those that follow it."""
        if not stream.delayed:
            stream.delayed = True
            self.host.call_later(self._run_gather, self._acknowledge_run, publisher, stream)

    def _acknowledge_run(self, publisher: NodeId, stream: PublisherStream) -> None:
        stream.delayed = False
        if self.streams.get(publisher) is stream:
            self._acknowledge(publisher, wire_number(stream.last))

    def _deliver(
        self, stream: PublisherStream, sequence: int, publication: Publication, subscribed: bool
    ) -> None:
        stream.last = stream.near = sequence
        if subscribed:
            self.host.deliver(publication)

    def _keep_early(self, stream: PublisherStream, waiting: BufferedEvent) -> Drop | None:
        early, publication, sequence = stream.early, waiting.publication, waiting.sequence
        reason = None
        if stream.unplaced.pop(sequence, None) is not None:
            reason = Drop.DUPLICATE
        held = early.get(sequence)
        if held is not None:
            reason = Drop.DUPLICATE
            waiting = BufferedEvent(
                sequence,
                min(held.before, waiting.before),
                min(held.published, waiting.published),
                held.subscribed and waiting.subscribed,
                publication,
            )
        early[sequence] = waiting
        if len(early) + len(stream.unplaced) > self.parameters.reorder_buffer:
            furthest = early.pop(max(early))
            if furthest is waiting:
                reason = Drop.TABLE_FULL
            else:
                self._drop(furthest, Drop.TABLE_FULL)
        if self._budget.spend(event_bytes(publication)):
            self._make_room()
        self._requests.schedule(publication.publisher, stream)
        return reason

    def _make_room(self) -> None:
        """Drop buffered events beyond the limit in bytes: of the stream silent longest, the one furthest
        ahead first."""
        sizes = [
            ((publisher, sequence), event_bytes(buffer[sequence].publication))
            for publisher, stream in self.streams.items()
            for buffer in (stream.unplaced, stream.early)
            for sequence in sorted(buffer, reverse=True)
        ]
        for publisher, sequence in self._budget.surplus(sizes):
            stream = self.streams[publisher]
            waiting = stream.unplaced.pop(sequence, None) or stream.early.pop(sequence)
            self._drop(waiting, Drop.TABLE_FULL)

    def _stream(self, publisher: NodeId) -> PublisherStream:
        stream = self.streams.pop(publisher, None) or PublisherStream(
            self.incarnation, self.parameters.retransmit_timeout
        )
        self.streams[publisher] = stream
        if len(self.streams) > self.parameters.publishers:
            silent = self.streams.pop(next(iter(self.streams)))
            self._forget(silent, Drop.TABLE_FULL)
        return stream

    def _renumber(self, stream: PublisherStream, edition: int) -> None:
        """Switch to a newer edition; the order of buffered events has to be determined again."""
        if edition > stream.edition:
            stream.edition = edition
            stream.order = {}
            stream.unplaced |= stream.early
            stream.early.clear()

    def _place(self, stream: PublisherStream, order: dict[int, int], doubtful: Collection[int]) -> None:
        """Order the buffered events by a new list; drop those that are no longer in it.

        Doubtful events are dropped as well: only the age of a copy of this edition shows whether this node
        was subscribed when they were published.
        """
        stream.order = {each: before for each, before in order.items() if each not in doubtful}
        beyond = max(order) if len(order) >= ORDER_LIMIT else inf
        for sequence in [each for each in stream.unplaced if each <= beyond]:
            waiting = stream.unplaced.pop(sequence)
            if sequence in stream.order:
                stream.early[sequence] = waiting._replace(before=order[sequence])
            else:
                self._drop(waiting, Drop.EXPIRED if sequence in doubtful else Drop.UNWANTED)

    def _forget(self, stream: PublisherStream, reason: Drop) -> None:
        for waiting in (*stream.early.values(), *stream.unplaced.values()):
            self._drop(waiting, reason)
        stream.early.clear()
        stream.unplaced.clear()

    def _drop(self, waiting: BufferedEvent, reason: Drop) -> None:
        publication = waiting.publication
        self.host.drop(XcastEvent(publication, (publication.publisher,), ()), reason)
