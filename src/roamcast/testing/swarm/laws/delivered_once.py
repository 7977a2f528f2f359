"""Once."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Where the protocol says so, no application gets an event twice from one incarnation of its router,
    unless memory was drawn too small to know."""
    if not record.traits.once or record.history.cramped:
        return None
    before: dict[tuple[int, int, int], float] = {}
    for got in record.deliveries:
        key = (got.node, got.incarnation, got.publication.id)
        if key in before and got.publication.id not in record.forged_publications:
            return (
                f"node {got.node} got publication {got.publication.id} at {before[key]:.3f} s and again at"
                f" {got.time:.3f} s"
            )
        before[key] = got.time
    return None
