"""Law: tables stay within their limits."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that no table of a router exceeds its declared limit."""
    for time, node, table, size in record.overflows:
        return f"{table} of node {node} had {size.entries} entries at {time:.1f} s; its limit is {size.limit}"
    return None
