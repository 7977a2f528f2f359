"""Law: a protocol that retransmits until acknowledged delivers every event."""

from __future__ import annotations

from math import inf

from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.swarm.record import SubscriptionSpan, SwarmPublication, SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that all advertised events were delivered to the nodes that had subscribed before publication.

    This applies to protocols that retransmit until acknowledged. Events are excluded if the publisher or the
    subscriber crashed afterwards.
    """
    history = record.history
    unfinished = record.left_at == inf or history.cramped
    if record.traits.promise is not DeliveryGuarantee.UNTIL_ACKNOWLEDGED or unfinished:
        return None
    spoken_of, forged = record.forged_nodes, record.forged_publications
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    for each in record.published:
        for wish in record.subscriptions:
            between = (wish.node, each.publication.publisher)
            if each.publication.id in forged or not spoken_of.isdisjoint(between):
                continue  # forged session state does not expire
            if _owed(record, each, wish) and (wish.node, each.publication.id) not in delivered:
                return (
                    f"node {wish.node} missed {each.publication.event} (publication {each.publication.id})"
                    f" of node {each.publication.publisher}, published at {each.time:.3f} s; it subscribed at"
                    f" {wish.begin:.3f} s"
                )
    return None


def _owed(record: SwarmRecord, each: SwarmPublication, wish: SubscriptionSpan) -> bool:
    publisher = record.incarnation_at(each.publication.publisher, each.time)
    subscriber = record.incarnation_at(wish.node, each.time)
    return (
        each.offered
        and wish.node != each.publication.publisher
        and not wish.single
        and wish.begin < each.time
        and wish.end == inf
        and wish.pattern.matches(each.publication.event)
        and each.time > record.left_at - record.traits.recall
        and publisher is not None
        and publisher.end >= record.left_at
        and subscriber is not None
        and subscriber.end >= record.left_at
    )
