"""RAFT-CBR at the publisher: who wants what, what each was sent, and who has not acknowledged it."""

from __future__ import annotations

from collections.abc import Callable

from roamcast.routing.cbr.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft_messages import Nack, Ping, Subscribe, SubscribeAck, XcastEvent
from roamcast.routing.cbr.session import Session
from roamcast.routing.router import Drop, Host, Message, NodeId, Publication, Timer


class Publishing:
    """Keeps every event until all to whom it was addressed have acknowledged it."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        life: int,
        *,
        post: Callable[[Message, NodeId], None],
        xcast: Callable[[XcastEvent], None],
        ping: Callable[[Ping], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.life = life
        self.sessions: dict[NodeId, Session] = {}
        "Subscribers, the one silent longest first."
        self.events: dict[int, Publication] = {}
        "Events that someone has not acknowledged, the oldest first."
        self._waiting: dict[int, int] = {}
        "How many have not acknowledged each of them."
        self._post = post
        self._xcast = xcast
        self._ping = ping
        self._timer: Timer | None = None

    # Subscriptions.

    def subscribe(self, message: Subscribe) -> Drop | None:
        """Learn what a subscriber wants, and say that it is known."""
        if not (message.life > 0 and message.version > 0):
            return Drop.MALFORMED
        session = self.sessions.get(message.subscriber)
        if session is not None and message.life in session.former_lives:
            return Drop.EXPIRED
        if session is None or session.life != message.life:
            session = self._open(message.subscriber, message.life)
        new = message.version > session.version
        if new:
            session.version = message.version
            session.patterns = message.patterns
        self._hear(message.subscriber, session)
        known = SubscribeAck(message.subscriber, self.host.node, session.life, session.version, self.life)
        self._post(known, message.subscriber)
        return None if new else Drop.DUPLICATE

    def _open(self, subscriber: NodeId, life: int) -> Session:
        """Begin a session with a subscriber that is new, or has forgotten everything."""
        old = self.sessions.pop(subscriber, None)
        session = Session(life, self.host.now())
        if old is not None:
            session.former_lives = [*old.former_lives[-7:], old.life]
            self._abandon(old)
        elif len(self.sessions) >= self.parameters.subscribers:
            self._abandon(self.sessions.pop(next(iter(self.sessions))))
        self.sessions[subscriber] = session
        return session

    def _abandon(self, session: Session) -> None:
        """Let go what a subscriber of another life, or of none, was to get."""
        for sequence in session.outstanding:
            publication = self.events[sequence]
            self.host.drop(XcastEvent(publication.id, publication, (self.host.node,), ()), Drop.EXPIRED)
        self._release(session, list(session.outstanding))

    # Events.

    def publish(self, publication: Publication) -> None:
        """Address an event to everyone known to want it, and send it."""
        event, sequence = publication.event, publication.sequence
        now = self.host.now()
        destinations = []
        for subscriber, session in self.sessions.items():
            if session.wants(event):
                destinations.append((subscriber, session.address(sequence, now)))
        message = XcastEvent(publication.id, publication, (self.host.node,), tuple(destinations))
        if not destinations:
            self.host.drop(message, Drop.UNWANTED)
            return
        self.events[sequence] = publication
        self._waiting[sequence] = len(destinations)
        if len(self.events) > self.parameters.kept:
            self._give_up(next(iter(self.events)))
        self._xcast(message)
        self._watch()

    def _give_up(self, sequence: int) -> None:
        """Let the oldest event go; those who waited for it go on with the next."""
        publication = self.events[sequence]
        lost = XcastEvent(publication.id, publication, (self.host.node,), ())
        for session in self.sessions.values():
            if sequence in session.outstanding:
                session.skip(sequence)
                self._release(session, [sequence])
                self.host.drop(lost, Drop.TABLE_FULL)

    # What subscribers say.

    def acknowledge(self, subscriber: NodeId, sequence: int) -> Drop | None:
        """Learn that a subscriber has everything up to `sequence`."""
        session = self.sessions.get(subscriber)
        if session is None:
            return Drop.NOT_MINE
        if sequence > session.last:
            return Drop.MALFORMED
        self._hear(subscriber, session)
        self._settle(session, sequence)
        if session.pinged:
            # It has answered a ping and knows of nothing more: all that is left must have been lost.
            session.ask(session.outstanding)
        self._repeat(subscriber, session)
        return None

    def serve(self, nack: Nack) -> Drop | None:
        """Repeat what a subscriber misses; it has all that comes before."""
        session = self.sessions.get(nack.subscriber)
        if session is None:
            return Drop.NOT_MINE
        if nack.last > session.last or not all(first <= last for first, last in nack.holes):
            return Drop.MALFORMED
        self._hear(nack.subscriber, session)
        self._settle(session, nack.last)
        session.ask(s for s in session.outstanding if any(a <= s <= b for a, b in nack.holes))
        self._repeat(nack.subscriber, session)
        return None

    def _hear(self, subscriber: NodeId, session: Session) -> None:
        self.sessions[subscriber] = self.sessions.pop(subscriber)
        session.since = self.host.now()

    def _settle(self, session: Session, sequence: int) -> None:
        done = []
        for outstanding in session.outstanding:
            if outstanding > sequence:
                break
            done.append(outstanding)
        self._release(session, done)

    def _release(self, session: Session, sequences: list[int]) -> None:
        for sequence in sequences:
            del session.outstanding[sequence]
            session.repeated.discard(sequence)
            left = self._waiting[sequence] - 1
            if left:
                self._waiting[sequence] = left
            else:
                del self._waiting[sequence], self.events[sequence]

    def _repeat(self, subscriber: NodeId, session: Session) -> None:
        """Send again what was asked for, a window at a time."""
        session.pinged = False
        for sequence in session.due(self.parameters.window):
            publication = self.events[sequence]
            destination = (subscriber, session.outstanding[sequence])
            self._xcast(XcastEvent(publication.id, publication, (self.host.node,), (destination,)))

    # Silence.

    def _watch(self) -> None:
        """Come back when a subscriber that owes an acknowledgement has been silent too long."""
        if self._timer is not None and self._timer.active:
            return
        owing = [session.since for session in self.sessions.values() if session.outstanding]
        if owing:
            wait = min(owing) + self.parameters.ping_wait - self.host.now()
            self._timer = self.host.call_later(max(wait, 0.0), self._ask_the_silent)

    def _ask_the_silent(self) -> None:
        self._timer = None
        now = self.host.now()
        silent = []
        for subscriber, session in self.sessions.items():
            if session.outstanding and session.since + self.parameters.ping_wait <= now + 1e-9:
                session.since = now
                session.pinged = True
                silent.append(subscriber)
        if silent:
            self._ping(Ping(self.host.node, (self.host.node,), tuple(silent)))
        self._watch()
