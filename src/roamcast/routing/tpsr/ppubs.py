"""P-PUBS: publications are flooded by PAMPA; subscriptions are not disseminated."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from roamcast.routing.pampa.pampa import Pampa
from roamcast.routing.router import DUPLICATE, Drop, Footprint, Host, NodeId, Parameters, Publication, Router
from roamcast.routing.tpsr.messages import PampaEvent
from roamcast.routing.tpsr.parameters import PPubsParameters


class PPubs(Router):
    """Deliver an event when it is first received, then repeat it unless enough neighbours do."""

    shares_process = True
    main_parameters = ("copies", "delay", "distance", "count_first")
    parameters_type = PPubsParameters
    as_published = MappingProxyType[str, Any]({})
    live = MappingProxyType({"max_delay": "20 ms"})
    parameters: PPubsParameters
    messages = (PampaEvent,)

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.pampa: Pampa[PampaEvent] = Pampa(host, self.parameters, host.broadcast, host.drop)
        self.handled = self.pampa.done
        self._hop_limit = self.parameters.hop_limit

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of PAMPA's tables."""
        return self.pampa.footprints()

    def publish(self, publication: Publication) -> None:
        """Start a flood."""
        self.pampa.begin(publication.id)
        self.host.broadcast(PampaEvent(publication))

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Deliver a new event, and take part in its flood."""
        publication = message.publication
        if self.pampa.record_copy(publication.id) or publication.publisher == self.host.node:
            return DUPLICATE
        if self.matches(publication.event):
            self.host.deliver(publication)
        if message.hops >= self._hop_limit:
            self.pampa.begin(publication.id)
            return Drop.HOP_LIMIT
        self.pampa.wait(publication.id, signal, PampaEvent(publication, message.hops + 1))
        return None
