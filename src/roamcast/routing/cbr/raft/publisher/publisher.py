"""RAFT-CBR at the publisher: sessions of subscribers, their outstanding events, and retransmission."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from roamcast.content.event import Event
from roamcast.routing.cbr.raft.messages import (
    HIGHEST,
    LOWEST,
    EditionAck,
    Nack,
    Subscribe,
    SubscribeAck,
    XcastEvent,
    elapsed_since,
    is_earlier,
    wire_number,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.publisher.pings import Pings
from roamcast.routing.cbr.raft.publisher.publication_log import PublicationLog, judge
from roamcast.routing.cbr.raft.publisher.retransmissions import Retransmissions
from roamcast.routing.cbr.raft.publisher.session import SubscriberSession
from roamcast.routing.cbr.raft.xcast import Xcast
from roamcast.routing.router import Drop, Host, NodeId, Publication
from roamcast.routing.unicast.unicast import Unicast


class RaftPublisher:
    """Stores every event until all subscribers that it was addressed to have acknowledged it.

    Its tables have extended sequence numbers, messages and arguments of public methods those of the wire.
    """

    def __init__(
        self, host: Host, parameters: RaftCbrParameters, incarnation: int, xcast: Xcast, unicast: Unicast
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.incarnation = incarnation
        self.sessions: dict[NodeId, SubscriberSession] = {}
        "Sessions by subscriber, the one silent longest first."
        self.events: dict[int, tuple[float, Publication]] = {}
        """Sequence number -> (time of publication [s], publication) of unacknowledged events, the oldest
        first."""
        self._waiting: dict[int, int] = {}
        "Sequence number -> number of subscribers that have not acknowledged it."
        self.log = PublicationLog(host, parameters, incarnation)
        self._extend = self.log.extend
        self.settled: Callable[[int, NodeId, bool | None], None] | None = None
        "Called with a sequence number, a subscriber, and what `Router.settled` is called with."
        self._xcast = xcast
        self._unicast = unicast
        self._pings = Pings(host, parameters, self.sessions, xcast.send_ping)
        p = parameters
        window, timeout = (p.window, p.retransmit_timeout) if p.paced else (p.unacknowledged_events, 0.0)
        self.retransmissions = Retransmissions(
            host,
            window,
            timeout,
            self._retransmit,
            self._has_route if p.paced and p.retransmit_runs else None,
        )

    # Subscriptions.

    def subscribe(self, message: Subscribe) -> Drop | None:
        """Handle a subscription, and acknowledge it."""
        session = self.sessions.get(message.subscriber)
        if session is not None and is_earlier(message.incarnation, session.incarnation):
            # A delayed message of an earlier incarnation.
            return Drop.EXPIRED
        if session is None or session.incarnation != message.incarnation:
            session = self._open(message.subscriber, message.incarnation)
            session.edition = message.version
        new = message.version > session.version
        self._hear(message.subscriber, session)
        if new:
            self._revise(message, session)
        self._unicast.send(self._known(session), message.subscriber)
        return None if new else Drop.DUPLICATE

    def _known(self, session: SubscriberSession) -> SubscribeAck | EditionAck:
        """Return the acknowledgement of the newest version received."""
        node, incarnation = self.host.node, session.incarnation
        if not session.revised:
            return SubscribeAck(node, incarnation, session.version, session.edition, self.incarnation)
        return EditionAck(
            node, incarnation, session.version, session.edition, self.incarnation, *session.order()
        )

    def _revise(self, message: Subscribe, session: SubscriberSession) -> None:
        """Adopt a new version of a subscription, and update the outstanding events.

        Events published while the subscription was on its way are added, as far as order still allows. The
        travel time makes a period appear to begin later than it did; events published that shortly before it
        are marked as doubtful, and the subscriber decides.
        """
        now, p = self.host.now(), self.parameters
        spans = self.log.spans(message)
        known, last = session.patterns, self._extend(message.last)
        removed: list[int] = []
        doubted: list[int] = []
        void = False
        if p.retract and p.recall:
            if last <= session.last:
                self._acknowledge(message.subscriber, session, last)
            removed, doubted = judge(session, self.events, spans, now - message.covered / 1000)
            # The subscriber may hold a copy of a dropped event, and would take the acknowledgement of an
            # unchanged order for a confirmation that it wanted it.
            void = session.skipped > last and any(each.ended for each in message.periods)
        session.version = message.version
        session.patterns = tuple(period.pattern for period in message.periods if not period.ended)
        found = self.log.missed(last, session, [span for span in spans if span.pattern not in known])
        added = session.revise(removed, found, doubted, now, void=void)
        for sequence in added:
            time, publication, doubtful = found[sequence]
            self._await_acks(time, sequence, publication, 1)
            if doubtful:
                session.doubtful.add(sequence)
            self.retransmissions.enqueue(sequence, message.subscriber)
        for sequence in doubted:  # copies in flight are of an earlier edition
            self._ask_again(sequence, [message.subscriber])
        for sequence in removed:
            _, publication = self.events[sequence]
            self.host.drop(XcastEvent(publication, (self.host.node,), ()), Drop.UNWANTED)
            self._owe_less(message.subscriber, sequence)
            self._report(message.subscriber, [sequence], False)
        self._make_room()
        if added:
            self._pings.watch()

    def _open(self, subscriber: NodeId, incarnation: int) -> SubscriberSession:
        """Open a session for a new subscriber or incarnation; if the table is full, evict the one silent
        longest."""
        old = self.sessions.pop(subscriber, None)
        session = SubscriberSession(incarnation, self.host.now())
        if old is not None:
            self._abandon(subscriber, old)
        elif len(self.sessions) >= self.parameters.subscribers:
            silent = next(iter(self.sessions))
            self._abandon(silent, self.sessions.pop(silent))
        self.sessions[subscriber] = session
        return session

    def _abandon(self, subscriber: NodeId, session: SubscriberSession) -> None:
        """Drop the outstanding events of a session that has ended."""
        for sequence in session.outstanding:
            _, publication = self.events[sequence]
            self.host.drop(XcastEvent(publication, (self.host.node,), ()), Drop.EXPIRED)
        lost = list(session.outstanding)
        self._release(subscriber, session, lost)
        self._report(subscriber, lost, False)

    # Events.

    def publish(self, publication: Publication) -> None:
        """Address an event to all subscribers whose filters match it, and send it."""
        event, now = publication.event, self.host.now()
        sequence = self.log.add(publication)
        destinations = []
        for subscriber, session in self._receivers(event):
            session.address(sequence, now)
            destinations.append(session.addressee(subscriber, sequence))
        message = XcastEvent(publication, (self.host.node,), tuple(destinations))
        if not destinations:
            self.host.drop(message, Drop.UNWANTED)
            return
        self._await_acks(now, sequence, publication, len(destinations))
        self._xcast.send_event(message)
        self._make_room()
        self._pings.watch()

    def _receivers(self, event: Event) -> list[tuple[NodeId, SubscriberSession]]:
        """Return the subscribers with a filter that matches an event, and their sessions."""
        receivers = []
        matches: dict[int, bool] = {}  # by identity: subscribers may share a filter
        for subscriber, session in self.sessions.items():
            for pattern in session.patterns:
                matched = matches.get(id(pattern))
                if matched is None:
                    matched = matches[id(pattern)] = pattern.matches(event)
                if matched:
                    receivers.append((subscriber, session))
                    break
        return receivers

    def _await_acks(self, time: float, sequence: int, publication: Publication, subscribers: int) -> None:
        """Store an event until `subscribers` more nodes have acknowledged it."""
        self.events[sequence] = (time, publication)
        self._waiting[sequence] = self._waiting.get(sequence, 0) + subscribers

    def _make_room(self) -> None:
        """Drop the oldest events beyond the limit; call this only after all outstanding events are
        recorded."""
        while len(self.events) > self.parameters.unacknowledged_events:
            self._give_up(min(self.events), Drop.TABLE_FULL)

    def known_receivers(self, event: Event) -> int:
        """Return the number of subscribers whose filters match an event."""
        return len(self._receivers(event))

    def unacknowledged(self, sequence: int) -> int:
        """Return how many subscribers have yet to acknowledge an event."""
        return self._waiting.get(self._extend(sequence), 0)

    def abandon(self, sequence: int) -> None:
        """Drop an event whose lifetime has ended."""
        if (extended := self._extend(sequence)) in self.events:
            self._give_up(extended, Drop.EXPIRED)

    def _give_up(self, sequence: int, reason: Drop) -> None:
        """Drop an event; subscribers that have not received it continue with the next one."""
        _, publication = self.events[sequence]
        lost = XcastEvent(publication, (self.host.node,), ())
        for subscriber, session in self.sessions.items():
            if sequence in session.outstanding:
                session.skip(sequence)
                self._release(subscriber, session, [sequence])
                self.host.drop(lost, reason)
                self._report(subscriber, [sequence], False)

    # Messages of subscribers.

    def acknowledge(self, subscriber: NodeId, sequence: int) -> Drop | None:
        """Handle the acknowledgement of everything up to `sequence`."""
        session = self.sessions.get(subscriber)
        if session is None:
            return Drop.NOT_MINE
        last = self._extend(sequence)
        if last > session.last:
            return Drop.MALFORMED
        self._hear(subscriber, session)
        self._acknowledge(subscriber, session, last)
        if session.pinged:
            # The subscriber answered a ping and reported no gap: all outstanding events must have been lost.
            session.pinged = False
            for missing in session.outstanding:
                self.retransmissions.enqueue(missing, subscriber)
        return None

    def serve(self, nack: Nack) -> Drop | None:
        """Retransmit the events that a subscriber is missing; everything up to `nack.last` is
        acknowledged."""
        session = self.sessions.get(nack.subscriber)
        if session is None:
            return Drop.NOT_MINE
        last = self._extend(nack.last)
        if last > session.last:
            return Drop.MALFORMED
        self._hear(nack.subscriber, session)
        self._acknowledge(nack.subscriber, session, last)
        session.pinged = False
        holes = [
            (LOWEST if low == LOWEST else self._extend(low), inf if high == HIGHEST else self._extend(high))
            for low, high in nack.holes
        ]
        for missing in session.outstanding:
            if any(first <= missing <= last for first, last in holes):
                self.retransmissions.enqueue(missing, nack.subscriber)
        if session.skipped > last and session.outstanding:
            # It may wait for a dropped event. A copy of the next one names a different predecessor.
            self.retransmissions.enqueue(next(iter(session.outstanding)), nack.subscriber)
        return None

    def fail(self, sequence: int, subscribers: list[NodeId]) -> bool:
        """Schedule a retransmission after a link failure; return False if the event is gone or left to
        pings."""
        sequence = self._extend(sequence)
        if sequence not in self.events:
            return False
        age = self.host.now() - self.events[sequence][0]
        soon = age < self.parameters.ping_wait
        if soon:
            self.host.call_later(self.parameters.retry_delay(age), self._ask_again, sequence, subscribers)
        return soon

    def _ask_again(self, sequence: int, subscribers: list[NodeId]) -> None:
        for subscriber in subscribers:
            session = self.sessions.get(subscriber)
            if session is not None and sequence in session.outstanding:
                self.retransmissions.acknowledge(sequence, subscriber)
                self.retransmissions.enqueue(sequence, subscriber)

    def _hear(self, subscriber: NodeId, session: SubscriberSession) -> None:
        self.sessions[subscriber] = self.sessions.pop(subscriber)
        session.since = self.host.now()

    def _acknowledge(self, subscriber: NodeId, session: SubscriberSession, sequence: int) -> None:
        done = []
        for outstanding in session.outstanding:
            if outstanding > sequence:
                break
            done.append(outstanding)
        doubtful = session.doubtful.intersection(done)
        self._release(subscriber, session, done)
        self._report(subscriber, [each for each in done if each not in doubtful], True)
        self._report(subscriber, sorted(doubtful), None)

    def _report(self, subscriber: NodeId, sequences: list[int], acknowledged: bool | None) -> None:
        if self.settled is not None:
            for sequence in sequences:
                self.settled(wire_number(sequence), subscriber, acknowledged)

    def _release(self, subscriber: NodeId, session: SubscriberSession, sequences: list[int]) -> None:
        for sequence in sequences:
            session.acknowledge(sequence)
            self._owe_less(subscriber, sequence)

    def _owe_less(self, subscriber: NodeId, sequence: int) -> None:
        """Remove one subscriber from an event, and the event itself if it was the last."""
        self.retransmissions.acknowledge(sequence, subscriber)
        left = self._waiting[sequence] - 1
        if left:
            self._waiting[sequence] = left
        else:
            del self._waiting[sequence], self.events[sequence]

    def _retransmit(self, sequence: int, subscribers: list[NodeId]) -> None:
        """Retransmit an event to the given subscribers."""
        time, publication = self.events[sequence]
        age = elapsed_since(time, self.host.now())
        destinations = [self.sessions[node].addressee(node, sequence) for node in subscribers]
        self._xcast.send_event(XcastEvent(publication, (self.host.node,), tuple(destinations), age))

    def _has_route(self, subscriber: NodeId) -> bool:
        return self._unicast.next_hop(subscriber) is not None
