"""Clients on other nodes, which exchange messages with their broker by a unicast protocol."""

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
from roamcast.routing.unicast.unicast import UnicastUser
from roamcast.wire.blobs import filter_size


class Clients(UnicastUser):
    """The messages between clients and their broker, for both roles."""

    def __init__(
        self,
        host: Host,
        parameters: PubSubParameters,
        *,
        interests: Callable[[], Collection[Filter]],
        changed: Callable[[], None],
        publish: Callable[[Publication], None],
        deliver: Callable[[Publication], Drop | None],
    ) -> None:
        """Set the callbacks.

        `interests` returns the interests of this node, which its broker receives. `changed` is called when
        the subscriptions of clients may have changed, `publish` for an event of a client, and `deliver` for
        an event from the broker.
        """
        self._host = host
        self._lease = parameters.client_lease
        self._spread = parameters.clients_per_broker
        self.broker: NodeId = host.node - host.node % parameters.clients_per_broker
        self.unicast = Dsdv(host, parameters.dsdv, self)
        self._clients: Leases[NodeId, tuple[Filter, ...]] = Leases(self._lease, parameters.members)
        self._interests = interests
        self._changed = changed
        self._publish = publish
        self._deliver = deliver

    def start(self) -> None:
        """Start the unicast protocol and the periodic messages to the broker."""
        self.unicast.start()
        call_every(self._host, self._lease / 2.5, self.send_subscriptions)

    def send_subscriptions(self) -> None:
        """Send the interests to the broker; at the broker, update the subscriptions for expired clients."""
        if self.broker != self._host.node:
            self.unicast.send(ClientWish(tuple(dict.fromkeys(self._interests()))[:255]), self.broker)
        else:
            self._changed()

    def send(self, publication: Publication) -> None:
        """Send an event to the broker, which publishes it."""
        self.unicast.send(ClientEvent(publication), self.broker)

    def filters(self) -> list[Filter]:
        """Return the subscriptions of all clients."""
        return [filter for _, filters in self._clients.items(self._host.now()) for filter in filters]

    def send_event(self, publication: Publication) -> bool:
        """Send an event to each client whose subscriptions match it; return whether there is one."""
        served = False
        for client, filters in list(self._clients.items(self._host.now())):
            if client != publication.publisher and any(f.matches(publication.event) for f in filters):
                self.unicast.send(ClientEvent(publication), client)
                served = True
        return served

    def tables(self) -> Mapping[str, Footprint]:
        """Return the sizes of the tables of the unicast protocol and of the clients."""
        held = [filters for _, filters in self._clients._entries.values()]
        written = sum(4 + sum(map(filter_size, filters)) for filters in held)
        return {**self.unicast.tables(), "clients": Footprint(len(held), written, self._clients.capacity)}

    # Callback of the unicast protocol; undeliverable messages are dropped.

    def arrive(self, message: Message, origin: NodeId, sender: NodeId) -> Drop | None:
        """Handle a message from a client or from the broker."""
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
        return self._deliver(message.publication)

    def receive(self, message: Any, sender: NodeId, signal: float) -> Drop | None:
        """Pass a message to the unicast protocol."""
        return self.unicast.receive(message, sender, signal)
