"""Join tables: replies to join requests, aggregated, sent hop by hop and retransmitted until acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import Generic, TypeVar

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, Host, NodeId, Timer
from roamcast.routing.state.leases import Leases

K = TypeVar("K", bound=Hashable)


class UpstreamRoute:
    """The previous hop of a source's newest join request."""

    __slots__ = ("lifetime", "neighbour", "sequence")

    def __init__(self, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        self.neighbour = neighbour
        self.sequence = sequence
        self.lifetime = lifetime
        "Predicted lifetime of the route [ms]; None without prediction."


class Upstream(Generic[K]):
    """Reverse paths of join requests, by source or by channel and source."""

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._routes: Leases[K, UpstreamRoute] = Leases(parameters.timeout, parameters.routes)

    def learn(self, key: K, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        """Record the neighbour from which a join request arrived."""
        self._routes.renew(key, UpstreamRoute(neighbour, sequence, lifetime), self._host.now())

    def route(self, key: K) -> UpstreamRoute | None:
        """Return the reverse path, or None if it has expired."""
        return self._routes.get(key, self._host.now())

    def leads(self, key: K, neighbour: NodeId) -> bool:
        """Return whether the reverse path, expired or not, leads over a neighbour."""
        held = self._routes._entries.get(key)
        return held is not None and held[1].neighbour == neighbour

    def live(self) -> list[K]:
        """Return the keys of all reverse paths that have not expired."""
        return [key for key, _ in self._routes.items(self._host.now())]

    def footprint(self, bytes_each: int) -> Footprint:
        """Return the size of the table."""
        return Footprint(len(self._routes), bytes_each * len(self._routes), self._routes.capacity)


class _SentReply:
    """The state of the reply to one join request."""

    __slots__ = ("acknowledged", "count", "route")

    def __init__(self, route: UpstreamRoute) -> None:
        self.route = route
        self.count = 0
        self.acknowledged = False


class JoinReplies(Generic[K]):
    """The items that join tables carry, each towards one source.

    An item is acknowledged when the next hop is overheard sending it. The source has no next hop; it
    acknowledges with an entry that names itself. An item without acknowledgement is retransmitted. A node
    sends an item at most `tries` times per join request, so that loops of join tables end.
    """

    def __init__(
        self,
        host: Host,
        parameters: MeshParameters,
        route: Callable[[K], UpstreamRoute | None],
        send: Callable[[list[tuple[K, UpstreamRoute]]], None],
    ) -> None:
        self._host = host
        self._parameters = parameters
        self._route = route
        self._send = send
        self._answers: dict[K, _SentReply] = {}
        self._pending: dict[K, float] = {}
        "Items to be sent, and how long the next hop may delay each of them [s]."
        self._timer: Timer | None = None
        self._due = inf

    def answer(self, item: K, patience: float = 0.0) -> None:
        """Send an item as a member; an item that is not urgent waits up to `patience` [s] for others."""
        wait = self._host.random.random() * max(self._parameters.reply_jitter, patience)
        self._add(item, wait, patience)

    def pass_on(self, item: K, patience: float = 0.0) -> None:
        """Send an item as a forwarding node, after waiting for the join tables of other neighbours."""
        parameters = self._parameters
        wait = parameters.reply_aggregation + self._host.random.random() * max(
            parameters.reply_jitter, patience
        )
        self._add(item, wait, patience)

    def overhear(self, neighbour: NodeId, item: K) -> None:
        """Record that a neighbour was overheard sending an item; the next hop thereby acknowledges it."""
        answer = self._answers.get(item)
        if answer is not None and answer.route.neighbour == neighbour:
            answer.acknowledged = True

    def footprint(self, bytes_each: int) -> Footprint:
        """Return the size of the table of replies."""
        entries = len(self._answers)
        return Footprint(entries, bytes_each * entries, self._parameters.routes)

    def _add(self, item: K, wait: float, patience: float) -> None:
        if len(self._pending) < self._parameters.routes:
            self._pending[item] = patience
        due = self._host.now() + wait
        if due < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = due
            self._timer = self._host.call_later(wait, self._flush)

    def _flush(self) -> None:
        """Send all pending items that have not been sent `tries` times for the same join request."""
        self._timer, self._due = None, inf
        tries, answers = self._parameters.tries, self._answers
        pending, self._pending = self._pending, {}
        sent: list[tuple[K, _SentReply]] = []
        longest = 0.0
        for item, patience in pending.items():
            route = self._route(item)
            if route is None:
                continue
            answer = answers.pop(item, None)
            if answer is None or answer.route is not route:
                answer = _SentReply(route)
            answers[item] = answer  # most recently used last
            if answer.count < tries:
                answer.count += 1
                longest = max(longest, patience)
                sent.append((item, answer))
        while len(answers) > self._parameters.routes:
            del answers[next(iter(answers))]
        if sent:
            self._send([(item, answer.route) for item, answer in sent])
            waiting = [(item, answer) for item, answer in sent if not answer.acknowledged]
            if waiting:
                most_sends = max(answer.count for _, answer in waiting)
                wait = (
                    self._parameters.ack_wait * self._parameters.backoff ** (most_sends - 1) + 1.5 * longest
                )
                self._host.call_later(wait, self._check, waiting)

    def _check(self, waiting: list[tuple[K, _SentReply]]) -> None:
        """Retransmit the items that are not acknowledged, unless a newer join request has arrived."""
        for item, answer in waiting:
            if not answer.acknowledged and self._route(item) is answer.route:
                self.answer(item)
