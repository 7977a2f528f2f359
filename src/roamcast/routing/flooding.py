"""Flooding: everyone repeats everything once. The simplest router, and the one to copy from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from roamcast.routing.router import (
    DUPLICATE,
    Category,
    Drop,
    Footprint,
    Host,
    Message,
    NodeId,
    Parameters,
    Publication,
    Role,
    Router,
)
from roamcast.routing.state.seen import Seen
from roamcast.units import Seconds
from roamcast.wire.fields import Hops


class Flood(Message, number=1, category=Category.EVENT, role=Role.CARRIES, dedup_field="publication_id"):
    """A publication on its way to everyone."""

    publication: Publication
    hops: Hops = 0


class FloodingParameters(Parameters):
    """What can be said of flooding."""

    jitter: Seconds = 0.01
    "Each node waits up to this long before it repeats; without it neighbours repeat at once and collide."
    hop_limit: int = Field(64, ge=0, le=255)
    "A message that has travelled this far is not repeated."
    seen_limit: int = 65536
    "Publications remembered as seen; the oldest is forgotten first."


class Flooding(Router):
    """Deliver on first hearing, repeat once after a random wait, ignore every copy."""

    shares_process = True
    parameters_type = FloodingParameters
    parameters: FloodingParameters
    messages = (Flood,)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.seen = Seen(self.parameters.seen_limit)
        self.handled = self.seen  # the simulator asks it about copies, and saves most calls of receive
        # Looked up once: every event asks for these at every node.
        self._jitter = self.parameters.jitter
        self._hop_limit = self.parameters.hop_limit

    def tables(self) -> Mapping[str, Footprint]:
        """The size of its only table."""
        return {"seen": Footprint(len(self.seen), 8 * len(self.seen), self.parameters.seen_limit)}

    def publish(self, publication: Publication) -> None:
        """Broadcast a new event; the publisher does not deliver to itself."""
        self.seen.add(publication.id)
        self.host.broadcast(Flood(publication))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Deliver and repeat what is new."""
        publication = message.publication
        if not self.seen.add(publication.id):
            return DUPLICATE
        if self.matches(publication.event):
            self.host.deliver(publication)
        hops = message.hops
        if hops >= self._hop_limit:
            return Drop.HOP_LIMIT
        host = self.host
        onward = Flood(publication, hops + 1)
        host.call_later(host.random.random() * self._jitter, host.broadcast, onward)
        return None
