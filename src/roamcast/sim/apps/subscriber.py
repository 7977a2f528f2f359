"""The subscriber: subscribes to its interests, which may depend on its position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.content.filter import Filter
from roamcast.routing.router import Timer
from roamcast.sim.apps.application import Application
from roamcast.sim.interest import Interest

if TYPE_CHECKING:
    from roamcast.sim.node import Node
    from roamcast.sim.world import World


class Subscriber(Application):
    """Polls its position, and subscribes to its interests there."""

    __slots__ = ("_filters", "_interest", "_next", "_world")

    def __init__(self, world: World, node: Node, interest: Interest) -> None:
        super().__init__(node)
        self._world = world
        self._interest = interest
        self._filters: tuple[Filter, ...] = ()
        self._next: Timer | None = None

    def start(self) -> None:
        """Start polling."""
        self._poll_position(self._interest.last_poll(self._world.now()))

    def stop(self) -> None:
        """Remove all interests: no events are expected at a crashed node."""
        if self._next is not None:
            self._next.cancel()
        for filter in self._filters:
            self._note(filter, begins=False)
        self._filters = ()

    def _poll_position(self, due: int) -> None:
        """Subscribe to the interests at the current position; polls missed during sleep are skipped."""
        look = max(due, self._interest.last_poll(self._world.now()))
        position = self.node.position()
        filters = self._interest.filters_at(position, look)
        if filters != self._filters:
            before, self._filters = self._filters, filters
            for filter in before:
                if filter not in filters:
                    self.node.router.unsubscribe(filter)
                    self._note(filter, begins=False)
            for filter in filters:
                if filter not in before:
                    self.node.router.subscribe(filter)
                    self._note(filter, begins=True)
        following = self._interest.next_poll(position, look)
        if following is not None:
            time = self._interest.time_of(following)
            self._next = self._world.call_at(time, self.node.when_awake, self._poll_position, following)

    def _note(self, filter: Filter, *, begins: bool) -> None:
        self._world.record_interest(self.node.number, filter, begins=begins)
