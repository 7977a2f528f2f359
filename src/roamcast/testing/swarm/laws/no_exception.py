"""No exception."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Whatever happens, no router raises."""
    if record.error is None:
        return None
    return record.error.strip().splitlines()[-1]
