"""Flooding: everyone repeats everything once. The simplest router, and the one to copy from."""

from __future__ import annotations

from typing import Any, ClassVar

from roamcast.routing.router import (
    DUPLICATE,
    Category,
    Drop,
    Host,
    Message,
    NodeId,
    Parameters,
    Publication,
    Router,
)
from roamcast.routing.state.seen import Seen
from roamcast.units import Seconds


class Flood(Message, frozen=True, gc=False):
    """A publication on its way to everyone."""

    category: ClassVar[Category] = Category.EVENT

    id: int
    "The publication's id, here again so that a duplicate is known at one look."
    publication: Publication
    hops: int = 0

    @property
    def size(self) -> int:
        """The size of the publication, whose padding leaves room for the hop count."""
        return self.publication.size

    @property
    def about(self) -> int:
        """The publication that is flooded."""
        return self.id


class FloodingParameters(Parameters):
    """What can be said of flooding."""

    jitter: Seconds = 0.01
    "Each node waits up to this long before it repeats; without it neighbours repeat at once and collide."
    hop_limit: int = 64
    "A message that has travelled this far is not repeated."
    remember: int = 65536
    "Publications remembered as seen; the oldest is forgotten first."


class Flooding(Router):
    """Deliver on first hearing, repeat once after a random wait, ignore every copy."""

    parameters_type = FloodingParameters
    parameters: FloodingParameters

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.seen = Seen(self.parameters.remember)
        self.handled = self.seen  # the simulator asks it about copies, and saves most calls of receive
        # Looked up once: every event asks for these at every node.
        self._jitter = self.parameters.jitter
        self._hop_limit = self.parameters.hop_limit

    def publish(self, publication: Publication) -> None:
        """Broadcast a new event; the publisher does not deliver to itself."""
        self.seen.add(publication.id)
        self.host.broadcast(Flood(publication.id, publication))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Deliver and repeat what is new."""
        publication = message.publication
        if message.id != publication.id:
            return DUPLICATE if message.id in self.seen else Drop.MALFORMED
        if not self.seen.add(message.id):
            return DUPLICATE
        if self.wants(publication.event):
            self.host.deliver(publication)
        hops = message.hops
        if not 0 <= hops < self._hop_limit:
            return Drop.HOP_LIMIT
        host = self.host
        onward = Flood(message.id, publication, hops + 1)
        host.call_later(host.random.random() * self._jitter, host.broadcast, onward)
        return None
