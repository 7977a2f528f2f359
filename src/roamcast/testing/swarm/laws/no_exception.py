"""Law: no exception."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that no router raises an exception; return its last line."""
    if record.error is None:
        return None
    return record.error.strip().splitlines()[-1]
