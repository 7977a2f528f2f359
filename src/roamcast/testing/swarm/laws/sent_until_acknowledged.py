"""Until it is acknowledged."""

from __future__ import annotations

from math import inf

from roamcast.routing.traits import DeliveryGuarantee
from roamcast.testing.swarm.record import SubscriptionSpan, SwarmPublication, SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Where the protocol sends until it is acknowledged, everyone has got in the end all that was offered and
    published since it wanted it, unless a crash took the memory of the publisher or of its own."""
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
                continue  # a session that strangers meddled with is believed for good
            if _owed(record, each, wish) and (wish.node, each.publication.id) not in delivered:
                return (
                    f"node {wish.node} never got {each.publication.event} (publication {each.publication.id})"
                    f" of node {each.publication.publisher}, published at {each.time:.3f} s, wanted since"
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
