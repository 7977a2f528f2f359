"""Pings of a RAFT-CBR publisher to the subscribers whose acknowledgement is overdue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roamcast.routing.cbr.raft.messages import Ping
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.publisher.session import SubscriberSession
from roamcast.routing.router import Host, NodeId, Timer


class Pings:
    """Pings a subscriber with outstanding events that has been silent for `ping_wait`."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        sessions: Mapping[NodeId, SubscriberSession],
        send: Callable[[Ping], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self._sessions = sessions
        self._send = send
        self._timer: Timer | None = None

    def watch(self) -> None:
        """Schedule a ping for the first subscriber whose acknowledgement is overdue."""
        if self._timer is not None and self._timer.active:
            return
        owing = [session.since for session in self._sessions.values() if session.outstanding]
        if owing:
            wait = min(owing) + self.parameters.ping_wait - self.host.now()
            self._timer = self.host.call_later(max(wait, 0.0), self._ping_silent)

    def _ping_silent(self) -> None:
        self._timer = None
        now = self.host.now()
        silent = []
        for subscriber, session in self._sessions.items():
            if session.outstanding and session.since + self.parameters.ping_wait <= now + 1e-9:
                session.since = now
                session.pinged = True
                silent.append(subscriber)
        if silent:
            self._send(Ping(self.host.node, (self.host.node,), tuple(silent)))
        self.watch()
