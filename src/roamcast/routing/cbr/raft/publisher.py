"""RAFT-CBR at the publisher: who wants what, what each was sent, and who has not acknowledged it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.cbr.raft.messages import (
    EditionAck,
    Nack,
    Ping,
    Subscribe,
    SubscribeAck,
    XcastEvent,
    elapsed_since,
    is_earlier,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.retransmissions import Retransmissions
from roamcast.routing.cbr.raft.session import SubscriberSession
from roamcast.routing.cbr.raft.xcast import Xcast
from roamcast.routing.router import Drop, Host, NodeId, Publication, Timer
from roamcast.routing.unicast.unicast import Unicast

SERIALS_KEPT = 256
"Renewals; of an older one it is not known when it was said."


class Span(NamedTuple):
    """A time in which a subscriber wanted something, by the publisher's clock."""

    pattern: Filter
    begin: float
    "At the latest: the travel of the subscription makes it look younger."
    end: float
    travel: float
    "Seconds that the subscription may have travelled."

    def holds(self, time: float, publication: Publication) -> bool:
        """Whether an event published at `time` was, or may have been, wanted."""
        return self.begin - self.travel <= time <= self.end and self.pattern.matches(publication.event)


class RaftPublisher:
    """Keeps every event until all to whom it was addressed have acknowledged it."""

    def __init__(
        self, host: Host, parameters: RaftCbrParameters, incarnation: int, xcast: Xcast, unicast: Unicast
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.incarnation = incarnation
        self.sessions: dict[NodeId, SubscriberSession] = {}
        "Subscribers, the one silent longest first."
        self.events: dict[int, tuple[float, Publication]] = {}
        "Events that someone has not acknowledged, the oldest first, and when each was published."
        self._waiting: dict[int, int] = {}
        "How many have not acknowledged each of them."
        self.recent: deque[tuple[float, Publication]] = deque(maxlen=parameters.unacknowledged_events)
        "Events published lately, for subscriptions that come late."
        self.settled: Callable[[int, NodeId, bool], None] | None = None
        "Called with the number of an event that a subscriber has acknowledged (True), or is owed no more."
        self._said: dict[int, float] = {}
        "When the latest advertisements were first said, by serial."
        self._xcast = xcast
        self._unicast = unicast
        self._timer: Timer | None = None
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

    def advance_serial(self, serial: int) -> None:
        """Note that advertisements have a new serial from now on."""
        self._said.setdefault(serial, self.host.now())
        if len(self._said) > SERIALS_KEPT:
            del self._said[next(iter(self._said))]

    def subscribe(self, message: Subscribe) -> Drop | None:
        """Learn what a subscriber wants, and say that it is known."""
        session = self.sessions.get(message.subscriber)
        if session is not None and is_earlier(message.incarnation, session.incarnation):
            # It was long on its way and says nothing about today.
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
        """Return the acknowledgement of the version that is known."""
        node, incarnation = self.host.node, session.incarnation
        if not session.revised:
            return SubscribeAck(node, incarnation, session.version, session.edition, self.incarnation)
        return EditionAck(
            node, incarnation, session.version, session.edition, self.incarnation, *session.order()
        )

    def _revise(self, message: Subscribe, session: SubscriberSession) -> None:
        """Take over a new version of a subscription, and change what is owed accordingly.

        What was published while the subscription was on its way is added, as far as order still allows. Its
        travel makes a period look younger than it is. What was published so long before it as the message
        may have travelled is doubtful: the subscriber, who knows when it asked, decides.
        """
        now, p, travel = self.host.now(), self.parameters, self._travel_time(message)
        spans = [
            Span(each.pattern, now - each.began / 1000, now - each.ended / 1000, travel)
            for each in message.periods
        ]
        known = session.patterns
        removed: list[int] = []
        if p.retract and p.recall:
            if message.last <= session.last:
                self._acknowledge(message.subscriber, session, message.last)
            removed = self._unwanted(session, spans, now - message.covered / 1000)
        session.version = message.version
        session.patterns = tuple(period.pattern for period in message.periods if not period.ended)
        found = self._missed(message.last, session, [span for span in spans if span.pattern not in known])
        added = session.revise(removed, found, now)
        for sequence in added:
            time, publication, doubtful = found[sequence]
            self._await_acks(time, publication, 1)
            if doubtful:
                session.doubtful.add(sequence)
            self.retransmissions.enqueue(sequence, message.subscriber)
        for sequence in removed:
            _, publication = self.events[sequence]
            self.host.drop(XcastEvent(publication, (self.host.node,), ()), Drop.UNWANTED)
            self._owe_less(message.subscriber, sequence)
            self._report(message.subscriber, [sequence], False)
        self._make_room()
        if added:
            self._watch()

    def _missed(
        self, last: int, session: SubscriberSession, spans: list[Span]
    ) -> dict[int, tuple[float, Publication, bool]]:
        """Return what was published in `spans` after event `last` and is not owed, and whether in doubt."""
        found = {}
        oldest = self.host.now() - self.parameters.recall
        for time, publication in reversed(self.recent):
            sequence = publication.sequence
            if sequence <= last or time < oldest:
                break
            begins = [span.begin for span in spans if span.holds(time, publication)]
            if begins and sequence not in session.outstanding:
                found[sequence] = (time, publication, time < min(begins))
        return found

    def _unwanted(self, session: SubscriberSession, spans: list[Span], since: float) -> list[int]:
        """Return what is owed, was published after `since` and lies in none of `spans`.

        If the subscriber has asked for it again while the subscription was on its way, its next version
        brings it back. A pattern that the subscription does not mention may have been forgotten by the
        subscriber: what it matches stays.
        """
        told = {span.pattern for span in spans}
        unwanted = []
        for sequence in session.outstanding:
            time, publication = self.events[sequence]
            if time < since:
                continue
            begins = [span.begin for span in spans if span.holds(time, publication)]
            if begins:
                if time < min(begins):
                    session.doubtful.add(sequence)
            elif all(each in told for each in session.patterns if each.matches(publication.event)):
                unwanted.append(sequence)
        return unwanted

    def _travel_time(self, message: Subscribe) -> float:
        """How long a subscription has been on its way at most: since what was heard before it was sent."""
        since = -inf
        if message.publisher_incarnation == self.incarnation:
            since = self._said.get(message.serial, -inf)
        for time, publication in reversed(self.recent):
            if publication.sequence <= message.heard:
                if publication.sequence == message.heard:
                    since = max(since, time)
                break
        return self.host.now() - since

    def _open(self, subscriber: NodeId, incarnation: int) -> SubscriberSession:
        """Begin a session with a subscriber that is new, or has forgotten everything."""
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
        """Let go what a subscriber of another incarnation, or of none, was to get."""
        for sequence in session.outstanding:
            _, publication = self.events[sequence]
            self.host.drop(XcastEvent(publication, (self.host.node,), ()), Drop.EXPIRED)
        lost = list(session.outstanding)
        self._release(subscriber, session, lost)
        self._report(subscriber, lost, False)

    # Events.

    def publish(self, publication: Publication) -> None:
        """Address an event to everyone known to want it, and send it."""
        event, sequence = publication.event, publication.sequence
        now = self.host.now()
        self.recent.append((now, publication))
        while self.recent[0][0] < now - self.parameters.recall:
            self.recent.popleft()
        destinations = []
        for subscriber, session in self.sessions.items():
            if session.matches(event):
                session.address(sequence, now)
                destinations.append(session.addressee(subscriber, sequence))
        message = XcastEvent(publication, (self.host.node,), tuple(destinations))
        if not destinations:
            self.host.drop(message, Drop.UNWANTED)
            return
        self._await_acks(now, publication, len(destinations))
        self._xcast.send_event(message)
        self._make_room()
        self._watch()

    def _await_acks(self, time: float, publication: Publication, subscribers: int) -> None:
        """Keep an event until so many more have acknowledged it."""
        sequence = publication.sequence
        self.events[sequence] = (time, publication)
        self._waiting[sequence] = self._waiting.get(sequence, 0) + subscribers

    def _make_room(self) -> None:
        """Give up the oldest events if there are too many; all that is owed must be noted before."""
        while len(self.events) > self.parameters.unacknowledged_events:
            self.give_up(min(self.events), Drop.TABLE_FULL)

    def unacknowledged(self, sequence: int) -> int:
        """Return how many subscribers have yet to acknowledge an event."""
        return self._waiting.get(sequence, 0)

    def give_up(self, sequence: int, reason: Drop) -> None:
        """Let an event go; those who waited for it go on with the next."""
        _, publication = self.events[sequence]
        lost = XcastEvent(publication, (self.host.node,), ())
        for subscriber, session in self.sessions.items():
            if sequence in session.outstanding:
                session.skip(sequence)
                self._release(subscriber, session, [sequence])
                self.host.drop(lost, reason)
                self._report(subscriber, [sequence], False)

    # What subscribers say.

    def acknowledge(self, subscriber: NodeId, sequence: int) -> Drop | None:
        """Learn that a subscriber has everything up to `sequence`."""
        session = self.sessions.get(subscriber)
        if session is None:
            return Drop.NOT_MINE
        if sequence > session.last:
            return Drop.MALFORMED
        self._hear(subscriber, session)
        self._acknowledge(subscriber, session, sequence)
        if session.pinged:
            # It has answered a ping and knows of nothing more: all that is left must have been lost.
            session.pinged = False
            for missing in session.outstanding:
                self.retransmissions.enqueue(missing, subscriber)
        return None

    def serve(self, nack: Nack) -> Drop | None:
        """Retransmit what a subscriber misses; it has all that comes before."""
        session = self.sessions.get(nack.subscriber)
        if session is None:
            return Drop.NOT_MINE
        if nack.last > session.last:
            return Drop.MALFORMED
        self._hear(nack.subscriber, session)
        self._acknowledge(nack.subscriber, session, nack.last)
        session.pinged = False
        for missing in session.outstanding:
            if any(first <= missing <= last for first, last in nack.holes):
                self.retransmissions.enqueue(missing, nack.subscriber)
        if session.skipped and session.outstanding:
            # It may wait for an event that was given up. The next one names another predecessor now.
            self.retransmissions.enqueue(next(iter(session.outstanding)), nack.subscriber)
        return None

    def fail(self, sequence: int, subscribers: list[NodeId]) -> bool:
        """Learn that the link gave up on an event: send it again soon, unless pings will see to it."""
        if sequence not in self.events:
            return False
        age = self.host.now() - self.events[sequence][0]
        soon = age < self.parameters.ping_wait
        if soon:
            self.host.call_later(max(self.parameters.link_retry, age), self._ask_again, sequence, subscribers)
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
        self._release(subscriber, session, done)
        self._report(subscriber, done, True)

    def _report(self, subscriber: NodeId, sequences: list[int], acknowledged: bool) -> None:
        if self.settled is not None:
            for sequence in sequences:
                self.settled(sequence, subscriber, acknowledged)

    def _release(self, subscriber: NodeId, session: SubscriberSession, sequences: list[int]) -> None:
        for sequence in sequences:
            session.acknowledge(sequence)
            self._owe_less(subscriber, sequence)

    def _owe_less(self, subscriber: NodeId, sequence: int) -> None:
        """Forget an event for one subscriber, and altogether if it was the last."""
        self.retransmissions.acknowledge(sequence, subscriber)
        left = self._waiting[sequence] - 1
        if left:
            self._waiting[sequence] = left
        else:
            del self._waiting[sequence], self.events[sequence]

    def _retransmit(self, sequence: int, subscribers: list[NodeId]) -> None:
        """Send an event again to those who miss it."""
        time, publication = self.events[sequence]
        age = elapsed_since(time, self.host.now())
        destinations = [self.sessions[node].addressee(node, sequence) for node in subscribers]
        self._xcast.send_event(XcastEvent(publication, (self.host.node,), tuple(destinations), age))

    def _has_route(self, subscriber: NodeId) -> bool:
        return self._unicast.next_hop(subscriber) is not None

    # Silence.

    def _watch(self) -> None:
        """Come back when a subscriber that owes an acknowledgement has been silent too long."""
        if self._timer is not None and self._timer.active:
            return
        owing = [session.since for session in self.sessions.values() if session.outstanding]
        if owing:
            wait = min(owing) + self.parameters.ping_wait - self.host.now()
            self._timer = self.host.call_later(max(wait, 0.0), self._ping_silent)

    def _ping_silent(self) -> None:
        self._timer = None
        now = self.host.now()
        silent = []
        for subscriber, session in self.sessions.items():
            if session.outstanding and session.since + self.parameters.ping_wait <= now + 1e-9:
                session.since = now
                session.pinged = True
                silent.append(subscriber)
        if silent:
            self._xcast.send_ping(Ping(self.host.node, (self.host.node,), tuple(silent)))
        self._watch()
