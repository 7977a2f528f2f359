"""RAFT-CBR at the subscriber: each publisher's events once and in order, and asking for what is missing."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from roamcast.routing.cbr.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft_messages import HIGHEST, LOWEST, Nack
from roamcast.routing.router import Drop, Host, NodeId, Publication


class Stream:
    """What has come from one publisher."""

    __slots__ = ("asked", "asked_at", "asking", "chain", "early", "last")

    def __init__(self, life: int) -> None:
        self.last = -life
        "Sequence number of the event delivered last."
        self.early: dict[int, tuple[int, Publication]] = {}
        "Events that wait for those before them: sequence number -> the one before, and the event."
        self.chain: tuple[NodeId, ...] = ()
        "The nodes over which the latest event came, the nearest first."
        self.asking = False
        self.asked = LOWEST
        "The highest number asked for."
        self.asked_at = -inf
        "When all that is missing was asked for."

    def holes(self) -> list[tuple[int, int]]:
        """The ranges that are missing before what has arrived early."""
        holes = []
        first = self.last + 1 if self.last >= 0 else LOWEST
        for sequence in sorted(self.early):
            before = self.early[sequence][0]
            if before >= first:
                holes.append((first, before))
            first = sequence + 1
        return holes


class Ordering:
    """Delivers in order; what comes early waits, what comes twice is acknowledged again."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        life: int,
        acknowledge: Callable[[NodeId, int], None],
        ask: Callable[[Nack], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.life = life
        self.streams: dict[NodeId, Stream] = {}
        self._acknowledge = acknowledge
        self._ask = ask

    def take(self, publication: Publication, before: int, chain: tuple[NodeId, ...]) -> Drop | None:
        """Take an event that was addressed to this node after the event numbered `before`."""
        if before < 0 and before != -self.life:
            return Drop.EXPIRED
        stream = self._stream(publication.publisher)
        stream.chain = chain
        sequence = publication.sequence
        if sequence <= stream.last:
            self._acknowledge(publication.publisher, stream.last)
            return Drop.DUPLICATE
        if before > stream.last:
            return self._keep_early(stream, publication, before)
        # Nothing was addressed to us between `before` and this one, so nothing is missing.
        self._deliver(stream, publication)
        while stream.early:
            first = min(stream.early)
            before, publication = stream.early[first]
            if first > stream.last and before > stream.last:
                break
            del stream.early[first]
            if first > stream.last:
                self._deliver(stream, publication)
        self._acknowledge(publication.publisher, stream.last)
        if stream.early:
            self._ask_soon(publication.publisher, stream)
        return None

    def last(self, publisher: NodeId) -> int:
        """The number of the event delivered last."""
        stream = self.streams.get(publisher)
        return -self.life if stream is None else stream.last

    def answer(self, publisher: NodeId, chain: tuple[NodeId, ...]) -> None:
        """Answer a ping: with what is missing, or with what is here."""
        stream = self._stream(publisher)
        stream.chain = chain
        if stream.last >= 0 and not stream.early:
            self._acknowledge(publisher, stream.last)
            return
        top = max(stream.early) + 1 if stream.early else LOWEST
        self._send_nack(publisher, stream, [*stream.holes(), (top, HIGHEST)])

    def _deliver(self, stream: Stream, publication: Publication) -> None:
        stream.last = publication.sequence
        self.host.deliver(publication)

    def _keep_early(self, stream: Stream, publication: Publication, before: int) -> Drop | None:
        early, sequence = stream.early, publication.sequence
        reason = Drop.DUPLICATE if sequence in early else None
        early[sequence] = (min(before, early[sequence][0]) if reason else before, publication)
        if len(early) > self.parameters.reorder:
            furthest = max(early)
            del early[furthest]
            if furthest == sequence:
                reason = Drop.TABLE_FULL
        self._ask_soon(publication.publisher, stream)
        return reason

    def _ask_soon(self, publisher: NodeId, stream: Stream) -> None:
        if not stream.asking:
            stream.asking = True
            self.host.call_later(self.parameters.nack_gather, self._ask_now, publisher, stream)

    def _ask_now(self, publisher: NodeId, stream: Stream) -> None:
        stream.asking = False
        holes = stream.holes()
        now = self.host.now()
        if now < stream.asked_at + self.parameters.repeat_wait:
            # What was asked for a moment ago may be on its way.
            holes = [hole for hole in holes if hole[1] > stream.asked]
        else:
            stream.asked_at = now
        if holes:
            stream.asked = holes[-1][1]
            self._send_nack(publisher, stream, holes)

    def _send_nack(self, publisher: NodeId, stream: Stream, holes: list[tuple[int, int]]) -> None:
        self._ask(Nack(publisher, publisher, self.host.node, stream.chain, stream.last, tuple(holes)))

    def _stream(self, publisher: NodeId) -> Stream:
        stream = self.streams.pop(publisher, None) or Stream(self.life)
        self.streams[publisher] = stream
        if len(self.streams) > self.parameters.publishers:
            del self.streams[next(iter(self.streams))]
        return stream
