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
    forged_nodes, forged = record.forged_nodes, record.forged_publications
    delivered = {(got.node, got.publication.id) for got in record.deliveries}
    for each in record.published:
        for subscription in record.subscriptions:
            between = (subscription.node, each.publication.publisher)
            if each.publication.id in forged or not forged_nodes.isdisjoint(between):
                continue  # forged session state does not expire
            if (
                _owed(record, each, subscription)
                and (subscription.node, each.publication.id) not in delivered
            ):
                return (
                    f"node {subscription.node} missed {each.publication.event}"
                    f" (publication {each.publication.id}) of node {each.publication.publisher},"
                    f" published at {each.time:.3f} s; it subscribed at {subscription.begin:.3f} s"
                )
    return None


def _owed(record: SwarmRecord, each: SwarmPublication, subscription: SubscriptionSpan) -> bool:
    publisher = record.incarnation_at(each.publication.publisher, each.time)
    subscriber = record.incarnation_at(subscription.node, each.time)
    return (
        each.advertised
        and subscription.node != each.publication.publisher
        and not subscription.single
        and subscription.begin < each.time
        and subscription.end == inf
        and subscription.pattern.matches(each.publication.event)
        and each.time > record.left_at - record.traits.recall
        and publisher is not None
        and publisher.end >= record.left_at
        and subscriber is not None
        and subscriber.end >= record.left_at
    )
