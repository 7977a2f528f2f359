"""Law: only published events are delivered."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that every delivered event was published before, except events that forged frames named."""
    known = {each.publication.id: each for each in (*record.published, *record.probes)}
    for got in record.deliveries:
        each = known.get(got.publication.id)
        if got.publication.id in record.forged_publications:
            continue
        if each is None and not record.ended_early:
            return f"node {got.node} received publication {got.publication.id}, which was not published"
        if each is not None and (each.publication != got.publication or each.time > got.time):
            return f"node {got.node} received {got.publication} at {got.time:.3f} s; published was {each}"
    return None
