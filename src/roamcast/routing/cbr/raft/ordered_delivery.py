"""RAFT-CBR at the subscriber: ordered, duplicate-free delivery, and negative acknowledgements for gaps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import inf
from typing import NamedTuple

from roamcast.routing.cbr.raft.messages import (
    CIRCLE,
    HIGHEST,
    LOWEST,
    ORDER_LIMIT,
    Addressee,
    Nack,
    SequenceGap,
    XcastEvent,
    extend,
    first_version,
    wire_number,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.router import Drop, Host, NodeId, Publication


class BufferedEvent(NamedTuple):
    """An event that cannot be delivered yet."""

    sequence: int
    "Its extended sequence number."
    before: int
    "Extended sequence number of the preceding event."
    published: float
    "Latest possible time of publication [s]."
    wanted: bool
    "Whether to deliver it to the application; false if it was published before the subscription."
    publication: Publication


class PublisherStream:
    """The state of the event stream of one publisher; sequence numbers are extended (`extend`)."""

    __slots__ = (
        *("asked", "asked_at", "asking", "chain", "early", "edition", "last", "near", "order", "reminded"),
        *("delayed", "timeout", "unplaced"),
    )

    def __init__(self, incarnation: int, timeout: float) -> None:
        self.last = first_version(incarnation)
        "Sequence number of the last delivered event."
        self.near: int | None = None
        "An extended number of this stream, the last delivered one if there is one."
        self.early: dict[int, BufferedEvent] = {}
        "Events that wait for their predecessors, by sequence number."
        self.edition = 0
        "The current edition of the order; copies of an older edition have a wrong predecessor."
        self.order: dict[int, int] = {}
        "Sequence number -> predecessor, as listed by the publisher for this edition; no doubtful events."
        self.unplaced: dict[int, BufferedEvent] = {}
        "Copies of an older edition that wait for the list, or for a copy of this edition."
        self.chain: tuple[NodeId, ...] = ()
        "The path of the latest event, the nearest node first."
        self.asking = False
        self.asked = LOWEST
        "The highest sequence number requested."
        self.timeout = timeout
        "Time to wait for an answer before all gaps are requested again [s]; doubled each time."
        self.reminded = False
        "Whether a repeated request is scheduled."
        self.delayed = False
        "Whether an acknowledgement is delayed until further events of its run arrive."
        self.asked_at = -inf
        "When all gaps were last requested [s]."

    def extend(self, sequence: int) -> int:
        """Return the extended number of a sequence number of this stream."""
        if self.near is None and sequence >= 0:
            self.near = sequence + CIRCLE
        return extend(sequence, self.near or 0)

    def gaps(self) -> list[SequenceGap]:
        """Return the missing ranges before the buffered events, in extended numbers."""
        holes = []
        first = self.last + 1 if self.last >= 0 else LOWEST
        for sequence in sorted(self.early):
            before = self.early[sequence].before
            if before >= first:
                holes.append(SequenceGap(first, before))
            first = sequence + 1
        return holes


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
        self._run_gather = (p.window - 1) * p.ack_delay if p.paced and p.retransmit_runs else 0.0
        self._acknowledge = acknowledge
        self._ask = ask

    def handle(
        self, event: XcastEvent, place: Addressee, chain: tuple[NodeId, ...], sure: float, wanted: bool
    ) -> Drop | None:
        """Handle an event addressed to this node; deliver it to the application if `wanted`.

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
            return self._keep_early(stream, BufferedEvent(sequence, before, published, wanted, publication))
        # No event was addressed to this node between `before` and this one, so there is no gap.
        self._deliver(stream, sequence, publication, wanted)
        self._deliver_buffered(publication.publisher, stream, sure, late)
        return None if wanted else Drop.UNWANTED

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

    def answer_ping(self, publisher: NodeId, chain: tuple[NodeId, ...]) -> None:
        """Answer a ping with a request for missing events, or with an acknowledgement if there is no gap."""
        stream = self._stream(publisher)
        stream.chain = chain
        if stream.last >= 0 and not stream.early:
            self._acknowledge(publisher, wire_number(stream.last))
            return
        top = wire_number(max(stream.early) + 1) if stream.early else LOWEST
        self._send_nack(publisher, stream, [*wire_gaps(stream.gaps()), SequenceGap(top, HIGHEST)])

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
                self._deliver(stream, first, waiting.publication, waiting.wanted)
                if not waiting.wanted:
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
            self._ask_soon(publisher, stream)
        else:
            stream.timeout, stream.asked = self.parameters.retransmit_timeout, LOWEST

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
        self, stream: PublisherStream, sequence: int, publication: Publication, wanted: bool
    ) -> None:
        stream.last = stream.near = sequence
        if wanted:
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
                held.wanted and waiting.wanted,
                publication,
            )
        early[sequence] = waiting
        if len(early) + len(stream.unplaced) > self.parameters.reorder_buffer:
            furthest = early.pop(max(early))
            if furthest is waiting:
                reason = Drop.TABLE_FULL
            else:
                self._drop(furthest, Drop.TABLE_FULL)
        self._ask_soon(publication.publisher, stream)
        return reason

    def _ask_soon(self, publisher: NodeId, stream: PublisherStream) -> None:
        if not stream.asking:
            stream.asking = True
            self.host.call_later(self.parameters.nack_delay, self._ask_now, publisher, stream)

    def _ask_now(self, publisher: NodeId, stream: PublisherStream) -> None:
        stream.asking = False
        holes = stream.gaps()
        if not holes:
            return
        now, p = self.host.now(), self.parameters
        if not p.paced:
            self._send_nack(publisher, stream, wire_gaps(holes))
            return
        if now < stream.asked_at + stream.timeout:
            # Requested a moment ago: the answer may be on its way.
            holes = [hole for hole in holes if hole[1] > stream.asked]
        else:
            stream.asked_at = now
            if stream.asked > LOWEST:
                stream.timeout = min(2 * stream.timeout, p.ping_wait)
        if holes:
            stream.asked = holes[-1][1]
            self._send_nack(publisher, stream, wire_gaps(holes))
        if not stream.reminded and stream.timeout < p.ping_wait:
            stream.reminded = True
            wait = max(stream.asked_at + stream.timeout - now, p.nack_delay)
            self.host.call_later(wait, self._repeat_nack, publisher, stream)

    def _repeat_nack(self, publisher: NodeId, stream: PublisherStream) -> None:
        """Request the missing events again, although no new event has shown a gap."""
        stream.reminded = False
        if self.streams.get(publisher) is stream:
            self._ask_now(publisher, stream)

    def _send_nack(self, publisher: NodeId, stream: PublisherStream, holes: list[SequenceGap]) -> None:
        self._ask(
            Nack(
                publisher,
                self.host.node,
                stream.chain,
                wire_number(stream.last),
                tuple(holes),
                stream.edition,
            )
        )

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


def wire_gaps(gaps: list[SequenceGap]) -> list[SequenceGap]:
    """Return gaps in extended numbers as messages have them; a gap over the end of the circle is divided."""
    found = []
    for first, last in gaps:
        low, high = wire_number(first), wire_number(last)
        if low <= high:
            found.append(SequenceGap(low, high))
            continue
        if low < HIGHEST:  # which would mean that the gap is open-ended
            found.append(SequenceGap(low, HIGHEST - 1))
        found.append(SequenceGap(LOWEST, high))
    return found
