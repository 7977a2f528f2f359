"""Tables keep their bounds."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """No table ever holds more than it says that it can."""
    for time, node, table, size in record.overflows:
        return f"{table} of node {node} held {size.entries} at {time:.1f} s, and its limit is {size.limit}"
    return None
