"""The requester: requests events; the next matching delivery, new or cached, satisfies a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from roamcast.content.filter import Filter
from roamcast.routing.router import Publication, Timer
from roamcast.sim.apps.application import Application
from roamcast.sim.requests import RequestPlan

if TYPE_CHECKING:
    from roamcast.sim.node import Node
    from roamcast.sim.world import World


class _OpenRequest(NamedTuple):
    request: int
    time: float
    filter: Filter
    timeout: Timer


class Requester(Application):
    """Sends requests at scheduled times while its node works; each request has exactly one outcome."""

    def __init__(self, world: World, node: Node, asking: RequestPlan) -> None:
        super().__init__(node)
        self._world = world
        self._asking = asking
        self._times = asking.times()
        self._open: list[_OpenRequest] = []
        self._turn = 0
        self._count = 0
        self._await_turn()

    def stop(self) -> None:
        """Record the open requests as abandoned after a crash."""
        self._close("abandoned")

    def finish(self) -> None:
        """Record the open requests at the end of the run."""
        self._close("open")

    def delivered(self, publication: Publication) -> None:
        """Handle a delivery: it satisfies every open request that it matches."""
        answered = [each for each in self._open if each.filter.matches(publication.event)]
        if not answered:
            return
        now = self._world.now()
        self._open = [each for each in self._open if each not in answered]
        for each in answered:
            each.timeout.cancel()
            fresh = self._world.published_at(publication.id) >= each.time
            self._world.record_answer(self.node.number, each.filter)
            self._world.recorder.request(
                each.request,
                self.node.number,
                each.time,
                each.filter,
                "satisfied",
                answered=now,
                publication=publication.id,
                fresh=fresh,
            )
            # Deferred, since the router is in the middle of the delivery.
            self._world.call_at(now, self._satisfied, self.node.incarnation, each.filter)

    def _await_turn(self) -> None:
        time = next(self._times, None)
        if time is not None:
            self._world.call_at(time, self._take_turn)

    def _take_turn(self) -> None:
        self._turn += 1
        if self.node.works:
            self._ask(self._asking.filter_at(self._turn, self.node.position()))
        self._await_turn()

    def _ask(self, filter: Filter) -> None:
        now = self._world.now()
        self._count += 1
        request = self.node.number << 32 | self._count
        timeout = self._world.call_at(now + self._asking.requesting.timeout, self._expire, request)
        self._open.append(_OpenRequest(request, now, filter, timeout))
        self._world.record_request(self.node.number, filter)
        self.node.router.request(filter)

    def _expire(self, request: int) -> None:
        expired = next(each for each in self._open if each.request == request)
        self._open.remove(expired)
        self._end(expired, "expired")
        self.node.when_awake(self._satisfied, self.node.incarnation, expired.filter)

    def _satisfied(self, incarnation: int, filter: Filter) -> None:
        if self.node.works and self.node.incarnation == incarnation:
            self.node.router.cancel_request(filter)

    def _close(self, outcome: str) -> None:
        still_open, self._open = self._open, []
        for each in still_open:
            each.timeout.cancel()
            self._end(each, outcome)

    def _end(self, each: _OpenRequest, outcome: str) -> None:
        self._world.record_answer(self.node.number, each.filter)
        self._world.recorder.request(each.request, self.node.number, each.time, each.filter, outcome)
