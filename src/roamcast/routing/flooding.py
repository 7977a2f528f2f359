"""Flooding: every node repeats every event once. The simplest router, and a template for new ones."""

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


class Flood(Message, number=1, category=Category.EVENT, role=Role.EVENT, dedup_field="publication_id"):
    """A flooded publication."""

    publication: Publication
    hops: Hops = 0


class FloodingParameters(Parameters):
    """Parameters of flooding."""

    jitter: Seconds = 0.01
    """Maximum random delay before a node repeats an event; without it neighbours repeat simultaneously and
    collide."""
    hop_limit: int = Field(64, ge=0, le=255)
    "An event that has travelled this many hops is not repeated."
    seen_limit: int = 65536
    "Maximum number of publication ids remembered; the oldest is removed first."


class Flooding(Router):
    """Deliver an event when it is first received, repeat it once after a random delay, and drop
    duplicates."""

    shares_process = True
    parameters_type = FloodingParameters
    parameters: FloodingParameters
    messages = (Flood,)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.seen = Seen(self.parameters.seen_limit)
        self.handled = self.seen  # the simulator tests duplicates here and saves most calls
        # Cached as attributes: every reception reads them.
        self._jitter = self.parameters.jitter
        self._hop_limit = self.parameters.hop_limit

    def tables(self) -> Mapping[str, Footprint]:
        """Return the size of the table of seen publications."""
        return {"seen": Footprint(len(self.seen), 8 * len(self.seen), self.parameters.seen_limit)}

    def publish(self, publication: Publication) -> None:
        """Broadcast a new event; the publisher does not deliver to itself."""
        self.seen.add(publication.id)
        self.host.broadcast(Flood(publication))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Deliver and repeat a new event; return DUPLICATE for one already seen."""
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
