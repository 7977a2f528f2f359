"""Only what is wanted."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Nothing is delivered to a node that did not want it at any moment from its publication (and as long
    before as wishes are remembered) to its delivery."""
    forged, recall = record.forged_publications, record.traits.recall
    known = {each.publication.id: each.time for each in (*record.published, *record.probes)}
    for got in record.deliveries:
        time = known.get(got.publication.id)
        if time is None or got.publication.id in forged:
            continue
        if not any(
            wish.node == got.node
            and wish.begin <= got.time
            and wish.end >= time - recall
            and wish.pattern.matches(got.publication.event)
            for wish in record.subscriptions
        ):
            return (
                f"node {got.node} got {got.publication.event} (publication {got.publication.id}) at"
                f" {got.time:.3f} s, and did not want it since it was published at {time:.3f} s"
            )
    return None
