"""Join tables: answers to join requests, gathered, sent hop by hop, again until they are passed on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from roamcast.routing.odmrp.parameters import MeshParameters
from roamcast.routing.router import Footprint, Host, NodeId, Timer
from roamcast.routing.state.leases import Leases

K = TypeVar("K", bound=Hashable)


class Route:
    """The last hop of the newest join request, and what was answered to it."""

    __slots__ = ("acknowledged", "lifetime", "neighbour", "said", "sequence")

    def __init__(self, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        self.neighbour = neighbour
        self.sequence = sequence
        self.lifetime = lifetime
        "Milliseconds that the route is predicted to last; None where nobody predicts."
        self.said = 0
        "How often a join table was sent that answers this request."
        self.acknowledged = False
        "Whether the neighbour was heard to pass it on."


class JoinReplies(Generic[K]):
    """What is to be answered, by key: a source, or a channel and a source.

    A join table is acknowledged by that of the next hop (the source, which has no next hop, says one that
    names itself). One that is not is sent again, `tries` times in all: however join tables go round, a node
    speaks so often for one join request, and no more.
    """

    def __init__(self, host: Host, parameters: MeshParameters, say: Callable[[list[K]], None]) -> None:
        self._host = host
        self._parameters = parameters
        self._say = say
        self.routes: Leases[K, Route] = Leases(parameters.timeout, parameters.routes)
        self._pending: dict[K, None] = {}
        self._timer: Timer | None = None

    def learn(self, key: K, neighbour: NodeId, sequence: int, lifetime: int | None) -> None:
        """Note over whom the newest join request came."""
        self.routes.renew(key, Route(neighbour, sequence, lifetime), self._host.now())

    def answer(self, key: K) -> None:
        """Answer a join request as a member."""
        self._add(key, self._host.random.random() * self._parameters.reply_jitter)

    def pass_on(self, key: K) -> None:
        """Pass on a join table as a forwarding node, together with what else comes."""
        parameters = self._parameters
        self._add(key, parameters.gather + self._host.random.random() * parameters.reply_jitter)

    def heard(self, neighbour: NodeId, key: K) -> None:
        """Note that a neighbour was heard to answer: an acknowledgement, if it is the next hop."""
        route = self.routes.get(key, self._host.now())
        if route is not None and route.neighbour == neighbour:
            route.acknowledged = True

    def footprint(self, bytes_each: int) -> Footprint:
        """The size of the table of routes."""
        return Footprint(len(self.routes), bytes_each * len(self.routes), self.routes.capacity)

    def _add(self, key: K, wait: float) -> None:
        if key not in self._pending and len(self._pending) < self._parameters.routes:
            self._pending[key] = None
        if self._timer is None:
            self._timer = self._host.call_later(wait, self._flush)

    def _flush(self) -> None:
        """Say all that is to be answered, each no more often than it may be."""
        self._timer = None
        now, tries = self._host.now(), self._parameters.tries
        pending, self._pending = self._pending, {}
        said: list[tuple[K, Route]] = []
        for key in pending:
            route = self.routes.get(key, now)
            if route is not None and route.said < tries:
                route.said += 1
                said.append((key, route))
        if said:
            self._say([key for key, _ in said])
            waiting = [(key, route) for key, route in said if not route.acknowledged and route.said < tries]
            if waiting:
                self._host.call_later(self._parameters.ack_wait, self._check, waiting)

    def _check(self, waiting: list[tuple[K, Route]]) -> None:
        """Say again what the next hop was not heard to pass on, unless a newer request has come."""
        now = self._host.now()
        for key, route in waiting:
            if not route.acknowledged and self.routes.get(key, now) is route:
                self.answer(key)
