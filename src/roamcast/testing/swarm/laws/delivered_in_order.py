"""Law: events are delivered in the order of publication."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that events of each publisher are delivered in order, if the protocol declares `ordered`."""
    if not record.traits.ordered or record.history.cramped:
        return None
    published = sorted((*record.published, *record.probes), key=lambda each: each.time)
    place = {each.publication.id: n for n, each in enumerate(published)}
    forged = record.forged_publications
    last: dict[tuple[int, int, int], int] = {}
    for got in record.deliveries:
        id = got.publication.id
        if id not in place or id in forged:
            continue
        key = (got.node, got.incarnation, got.publication.publisher)
        if key in last and place[id] < place[last[key]]:
            return f"node {got.node} received publication {id} at {got.time:.3f} s, after {last[key]}"
        last[key] = id
    return None
