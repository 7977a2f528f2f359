"""RAFT-CBR at an addressee: events, pings and acknowledgements of subscriptions that reach a subscriber."""

from __future__ import annotations

from roamcast.routing.cbr.raft.messages import Addressee, EditionAck, SubscribeAck, XcastEvent, incarnation_of
from roamcast.routing.cbr.raft.subscriber.ordered_delivery import OrderedDelivery
from roamcast.routing.cbr.raft.subscriber.subscriber import RaftSubscriber
from roamcast.routing.router import Drop, Host, NodeId


class RaftAddressee:
    """Passes messages of publishers to ordered delivery, and corrects publishers whose records are wrong."""

    def __init__(
        self, host: Host, incarnation: int, subscribing: RaftSubscriber, ordering: OrderedDelivery
    ) -> None:
        self._host = host
        self._incarnation = incarnation
        self._subscribing = subscribing
        self._ordering = ordering

    def handle_event(self, event: XcastEvent, place: Addressee, chain: tuple[NodeId, ...]) -> Drop | None:
        """Pass an event addressed to this node to ordered delivery; return the drop reason, if any."""
        publisher = event.publication.publisher
        if not self._subscribing.knows(publisher):
            self._subscribing.announce_incarnation(publisher)
            return Drop.EXPIRED
        if incarnation_of(place.edition) != self._incarnation:
            # Another incarnation does not know the predecessors of this event, and no node would send them.
            return Drop.EXPIRED
        if not self._subscribing.has_sent(publisher, place.edition):
            return Drop.MALFORMED
        published = self._host.now() - event.age / 1000
        if place.doubtful:
            # The publisher sent the copy after this edition, so the event is no older than that and its age.
            earliest = self._subscribing.first_sent(publisher, place.edition) - event.age / 1000
            subscribed = self._subscribing.was_subscribed(event.publication.event, earliest, published)
        else:
            subscribed = self._subscribing.subscribed(event.publication.event, published)
            if not subscribed:
                # Another node has subscribed in this node's name.
                self._subscribing.correct(publisher)
        return self._ordering.handle(
            event, place, chain[-2::-1], self._subscribing.known_until(publisher), subscribed
        )

    def handle_ping(self, publisher: NodeId, chain: tuple[NodeId, ...]) -> None:
        """Acknowledge the events received from a publisher, or subscribe anew if it is unknown here."""
        if self._subscribing.knows(publisher):
            self._ordering.answer_ping(publisher, chain[-2::-1])
        else:
            self._subscribing.announce_incarnation(publisher)

    def handle_subscribe_ack(self, message: SubscribeAck | EditionAck, sender: NodeId) -> Drop | None:
        """Note which version of the subscription a publisher has, and the order of its events."""
        refused = self._subscribing.acknowledge(message)
        if refused is None:
            if isinstance(message, EditionAck):
                order, doubtful = message.order(), message.doubtful()
                self._ordering.resume(message.publisher, message.edition, order, doubtful)
            else:
                self._ordering.resume(message.publisher, message.edition)
        return refused
