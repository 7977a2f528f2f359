"""Law: events are delivered only to subscribers."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that a matching subscription was active at some time between publication and delivery.

    The interval starts earlier by `recall`, the time for which subscriptions are remembered.
    """
    forged, recall = record.forged_publications, record.traits.recall
    known = {each.publication.id: each.time for each in (*record.published, *record.probes)}
    for got in record.deliveries:
        time = known.get(got.publication.id)
        if time is None or got.publication.id in forged:
            continue
        if not any(
            subscription.node == got.node
            and subscription.begin <= got.time
            and subscription.end >= time - recall
            and subscription.pattern.matches(got.publication.event)
            for subscription in record.subscriptions
        ):
            return (
                f"node {got.node} received {got.publication.event} (publication {got.publication.id}) at"
                f" {got.time:.3f} s without a matching subscription since its publication at {time:.3f} s"
            )
    return None
