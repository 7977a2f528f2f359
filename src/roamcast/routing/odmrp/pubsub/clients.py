"""Clients on other nodes: they reach their broker, and it reaches them, by a unicast protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from roamcast.content.filter import Filter
from roamcast.routing.odmrp.pubsub.messages import ClientEvent, ClientWish
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.router import Drop, Footprint, Host, Message, NodeId, Publication
from roamcast.routing.state.leases import Leases
from roamcast.routing.state.timing import call_every
from roamcast.routing.unicast.dsdv.dsdv import Dsdv
from roamcast.wire.blobs import filter_size


class Clients:
    """Both sides: a client's way to its broker, and a broker's to its clients."""

    def __init__(
        self,
        host: Host,
        parameters: PubSubParameters,
        *,
        wishes: Callable[[], Collection[Filter]],
        changed: Callable[[], None],
        publish: Callable[[Publication], None],
        take: Callable[[Publication], Drop | None],
    ) -> None:
        """`wishes` of this node are told its broker; `changed`: those of clients have; `publish` for one;
        `take` an event that the broker sends."""
        self._host = host
        self._lease = parameters.client_lease
        self._spread = parameters.clients_per_broker
        self.broker: NodeId = host.node - host.node % parameters.clients_per_broker
        self.unicast = Dsdv(host, parameters.dsdv, self)
        self._clients: Leases[NodeId, tuple[Filter, ...]] = Leases(self._lease, parameters.members)
        self._wishes = wishes
        self._changed = changed
        self._publish = publish
        self._take = take

    def start(self) -> None:
        """Begin to look for routes, and to tell the broker what is wanted here."""
        self.unicast.start()
        call_every(self._host, self._lease / 2.5, self.send_subscriptions)

    def send_subscriptions(self) -> None:
        """Tell the broker what is wanted here; as a broker, notice which clients are gone."""
        if self.broker != self._host.node:
            self.unicast.send(ClientWish(tuple(dict.fromkeys(self._wishes()))[:255]), self.broker)
        else:
            self._changed()

    def send(self, publication: Publication) -> None:
        """Have the broker publish an event of this node."""
        self.unicast.send(ClientEvent(publication), self.broker)

    def filters(self) -> list[Filter]:
        """What the clients want."""
        return [wanted for _, filters in self._clients.items(self._host.now()) for wanted in filters]

    def send_event(self, publication: Publication) -> bool:
        """Send an event to each client that wants it; say whether there is one."""
        served = False
        for client, filters in list(self._clients.items(self._host.now())):
            if client != publication.publisher and any(f.matches(publication.event) for f in filters):
                self.unicast.send(ClientEvent(publication), client)
                served = True
        return served

    def tables(self) -> Mapping[str, Footprint]:
        """Those of the unicast protocol, and the clients."""
        held = [filters for _, filters in self._clients._entries.values()]
        written = sum(4 + sum(map(filter_size, filters)) for filters in held)
        return {**self.unicast.tables(), "clients": Footprint(len(held), written, self._clients.capacity)}

    # What the unicast protocol asks.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Take a client's word, or a broker's."""
        if isinstance(message, ClientWish):
            if origin - origin % self._spread != self._host.node:
                return Drop.MALFORMED
            self._clients.renew(origin, message.filters, self._host.now())
            self._changed()
            return None
        if not isinstance(message, ClientEvent):
            return Drop.MALFORMED
        if origin == message.publication.publisher and self.broker == self._host.node:
            self._publish(message.publication)
            return None
        return self._take(message.publication)

    def fail(self, message: Message, origin: NodeId, destination: NodeId, reason: Drop) -> bool:
        """Let it go: it is tried once."""
        return False

    def hint(self, message: Message, destination: NodeId, avoid: Collection[NodeId]) -> NodeId | None:
        """Know nothing better."""
        return None

    def add_age(self, message: Message, seconds: float) -> Message:
        """Stay as it is."""
        return message

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Hand the unicast protocol what is its own."""
        return self.unicast.receive(message, sender, signal)
