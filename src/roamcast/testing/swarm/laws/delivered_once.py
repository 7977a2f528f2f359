"""Law: an event is delivered at most once."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that no incarnation of a router delivers an event twice, if the protocol declares `once`.

    Histories with limits that are too small are excluded.
    """
    if not record.traits.once or record.history.cramped:
        return None
    before: dict[tuple[int, int, int], float] = {}
    for got in record.deliveries:
        key = (got.node, got.incarnation, got.publication.id)
        if key in before and got.publication.id not in record.forged_publications:
            return (
                f"node {got.node} received publication {got.publication.id} at {before[key]:.3f} s and again"
                f" at {got.time:.3f} s"
            )
        before[key] = got.time
    return None
