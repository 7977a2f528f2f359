"""Join tables: answers to join requests, gathered, sent hop by hop, again until they are passed on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import Generic, TypeVar

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, Host, NodeId, Timer
from roamcast.routing.state.leases import Leases

K = TypeVar("K", bound=Hashable)


class UpstreamRoute:
    """The last hop of the newest join request of a source."""

    __slots__ = ("lifetime", "neighbour", "sequence")

    def __init__(self, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        self.neighbour = neighbour
        self.sequence = sequence
        self.lifetime = lifetime
        "Milliseconds that the route is predicted to last; None where nobody predicts."


class Upstream(Generic[K]):
    """Over whom the newest join request came, by source, or by channel and source."""

    def __init__(self, host: Host, parameters: MeshParameters) -> None:
        self._host = host
        self._routes: Leases[K, UpstreamRoute] = Leases(parameters.timeout, parameters.routes)

    def learn(self, key: K, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        """Note over whom a join request came."""
        self._routes.renew(key, UpstreamRoute(neighbour, sequence, lifetime), self._host.now())

    def route(self, key: K) -> UpstreamRoute | None:
        """The way back, unless it is too old."""
        return self._routes.get(key, self._host.now())

    def leads(self, key: K, neighbour: NodeId) -> bool:
        """Whether the way back, fresh or not, is over a neighbour."""
        held = self._routes._entries.get(key)
        return held is not None and held[1].neighbour == neighbour

    def live(self) -> list[K]:
        """Whatever there is a way back to."""
        return [key for key, _ in self._routes.items(self._host.now())]

    def footprint(self, bytes_each: int) -> Footprint:
        """Its size."""
        return Footprint(len(self._routes), bytes_each * len(self._routes), self._routes.capacity)


class _SentReply:
    """What was said in answer to one join request."""

    __slots__ = ("acknowledged", "route", "said")

    def __init__(self, route: UpstreamRoute) -> None:
        self.route = route
        self.said = 0
        self.acknowledged = False


class JoinReplies(Generic[K]):
    """What is to be said in join tables, item by item, each towards a source.

    An item is acknowledged when the next hop is heard to say it too (the source, which has no next hop, says
    one that names itself). One that is not is said again, `tries` times in all: however join tables go round,
    a node says an item so often for one join request, and no more.
    """

    def __init__(
        self,
        host: Host,
        parameters: MeshParameters,
        route: Callable[[K], UpstreamRoute | None],
        say: Callable[[list[tuple[K, UpstreamRoute]]], None],
    ) -> None:
        self._host = host
        self._parameters = parameters
        self._route = route
        self._say = say
        self._answers: dict[K, _SentReply] = {}
        self._pending: dict[K, float] = {}
        "What is to be said, and how long the next hop may take to pass it on."
        self._timer: Timer | None = None
        self._due = inf

    def answer(self, item: K, patience: float = 0.0) -> None:
        """Say an item as a member; one that is not urgent waits up to `patience` for others to go with."""
        wait = self._host.random.random() * max(self._parameters.reply_jitter, patience)
        self._add(item, wait, patience)

    def pass_on(self, item: K, patience: float = 0.0) -> None:
        """Say an item as a forwarding node, together with what else comes."""
        parameters = self._parameters
        wait = parameters.reply_aggregation + self._host.random.random() * max(
            parameters.reply_jitter, patience
        )
        self._add(item, wait, patience)

    def heard(self, neighbour: NodeId, item: K) -> None:
        """Note that a neighbour was heard to say an item: an acknowledgement, if it is the next hop."""
        answer = self._answers.get(item)
        if answer is not None and answer.route.neighbour == neighbour:
            answer.acknowledged = True

    def footprint(self, bytes_each: int) -> Footprint:
        """The size of what was said and is to be said."""
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
        """Say all that is to be said, each no more often than it may be."""
        self._timer, self._due = None, inf
        tries, answers = self._parameters.tries, self._answers
        pending, self._pending = self._pending, {}
        said: list[tuple[K, _SentReply]] = []
        longest = 0.0
        for item, patience in pending.items():
            route = self._route(item)
            if route is None:
                continue
            answer = answers.pop(item, None)
            if answer is None or answer.route is not route:
                answer = _SentReply(route)
            answers[item] = answer  # the latest last
            if answer.said < tries:
                answer.said += 1
                longest = max(longest, patience)
                said.append((item, answer))
        while len(answers) > self._parameters.routes:
            del answers[next(iter(answers))]
        if said:
            self._say([(item, answer.route) for item, answer in said])
            waiting = [(item, answer) for item, answer in said if not answer.acknowledged]
            if waiting:
                often = max(answer.said for _, answer in waiting)
                wait = self._parameters.ack_wait * self._parameters.backoff ** (often - 1) + 1.5 * longest
                self._host.call_later(wait, self._check, waiting)

    def _check(self, waiting: list[tuple[K, _SentReply]]) -> None:
        """Say again what the next hop was not heard to say, unless a newer request has come."""
        for item, answer in waiting:
            if not answer.acknowledged and self._route(item) is answer.route:
                self.answer(item)
