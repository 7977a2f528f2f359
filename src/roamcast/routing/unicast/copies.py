"""One unicast copy for each receiver: the baseline that knows its audience in advance.

The publisher is told who wants the event and sends each of them a copy of its own, hop by hop. Nothing is
spent on subscriptions, so what is measured is the unicast protocol below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from roamcast.routing.router import (
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
    Traits,
    Travel,
)
from roamcast.routing.unicast.dsdv.dsdv import Dsdv
from roamcast.routing.unicast.dsdv.messages import DsdvUpdate
from roamcast.routing.unicast.dsdv.parameters import DsdvParameters
from roamcast.wire.fields import Hops, Node


class UnicastCopy(Message, kind=2, category=Category.EVENT, role=Role.CARRIES):
    """A publication on its way to one receiver."""

    publication: Publication
    receiver: Node
    hops: Hops = 0


class DsdvUnicastParameters(DsdvParameters):
    """DSDV's parameters, and how far a copy may travel."""

    hop_limit: int = Field(default=32, ge=1, le=255)
    "A copy that has travelled this far is dropped."


class DsdvUnicast(Router):
    """A copy for each receiver, over DSDV."""

    parameters_type = DsdvUnicastParameters
    parameters: DsdvUnicastParameters
    messages = (UnicastCopy, DsdvUpdate)
    knows_audience = True

    def __init__(self, host: Host, parameters: Parameters | None = None) -> None:
        super().__init__(host, parameters)
        self.routes = Dsdv(host, self.parameters)

    @classmethod
    def traits(cls, parameters: Parameters) -> Traits:
        """Each receiver is sent its own copy."""
        return Traits(travel=Travel.ADDRESSED)

    def tables(self) -> Mapping[str, Footprint]:
        """Those of DSDV."""
        return self.routes.tables()

    def start(self) -> None:
        """Begin to exchange routes."""
        self.routes.start()

    def publish(self, publication: Publication) -> None:
        """Send a copy to everyone who wants it."""
        for receiver in self.audience(publication):
            if receiver != self.host.node:
                self.routes.forward(UnicastCopy(publication, receiver), receiver)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Take in routes, deliver or pass on copies."""
        if type(message) is DsdvUpdate:
            return self.routes.receive(message, sender)
        if type(message) is not UnicastCopy:
            return Drop.MALFORMED
        if message.receiver == self.host.node:
            self.host.deliver(message.publication)
            return None
        if message.publication.publisher == self.host.node:
            return Drop.DUPLICATE  # it came back: a loop
        hops = message.hops + 1
        if hops >= self.parameters.hop_limit:
            return Drop.HOP_LIMIT
        self.routes.forward(UnicastCopy(message.publication, message.receiver, hops), message.receiver)
        return None

    def link_failed(self, message: Any, to: NodeId) -> None:
        """Tell the routes, and try the copy again if they learn from it."""
        self.routes.link_failed(to)
        if type(message) is not UnicastCopy:
            return
        if self.parameters.link_feedback:
            self.routes.forward(message, message.receiver)
        else:
            self.host.drop(message, Drop.NO_ROUTE)
