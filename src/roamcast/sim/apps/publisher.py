"""The publisher: advertises and publishes the scheduled events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.numbering import SequenceNumbers
from roamcast.routing.router import Publication
from roamcast.sim.apps.application import Application

if TYPE_CHECKING:
    from roamcast.sim.node import Node
    from roamcast.sim.world import World


class Publisher(Application):
    """Publishes the events of the run's schedule while its node works."""

    def __init__(self, world: World, node: Node) -> None:
        super().__init__(node)
        self.advertised: list[Filter] = []
        self._world = world
        self._numbers = SequenceNumbers(0)

    def start(self) -> None:
        """Restart the sequence numbers for the new incarnation, and send the advertisements."""
        self._numbers = SequenceNumbers(self.node.incarnation)
        for filter in self.advertised:
            self.node.router.advertise(filter)

    def publish(self, event: Event, size: int) -> None:
        """Publish an event now, unless the node does not work."""
        if self.node.works:
            publication = Publication(self.node.number, self._numbers.take(), event, size)
            self._world.record_publication(publication)
            self._world.kernel.enter(self.node.number)
            self.node.router.publish(publication)
